import type { EventOf, NewEvent } from '../../ledger/event.ts'
import type { DeliveryRow } from '../../projections/deliveries.ts'

export type Requested = EventOf<'delivery.requested'>
/** A request whose words are not erased. */
export type Message = Requested & { readonly body: NonNullable<Requested['body']> }

/** The message was certainly not accepted. */
export type Failure = {
  readonly status: 'failed'
  readonly kind: Exclude<EventOf<'sms.failed'>['facts']['kind'], 'unknown'>
  readonly mayRetry: boolean
  /** The shortest pause before the next attempt, or 0. */
  readonly retryAfterMs: number
  readonly providerCode?: number | null
}

/** The outcome of one attempt. */
export type Outcome =
  | {
      readonly status: 'delivered'
      readonly providerId: string | null
      /** Takes the append that makes the outcome durable. */
      readonly recordedBy?: (appended: Promise<unknown>) => void
    }
  | Failure
  /** The receiver may have accepted it. Never retried automatically. */
  | { readonly status: 'unknown' }
  /** The words were erased before they were delivered, or nobody needs them any more. */
  | { readonly status: 'erased' | 'obsolete' }

/** Makes one attempt. Resolves to null if only `recover` can tell whether it succeeded. */
export type Act = (signal: AbortSignal) => Promise<Outcome | null>

/** A way to deliver outside the ledger. */
export type Transport = {
  /** How many attempts may run side by side. */
  readonly atOnce: number
  /** Milliseconds until the next attempt is due; 0 if it is. */
  untilDueMs(row: DeliveryRow): number
  /** The act of the next attempt, or why there is none: a failure, or facts that postpone it. */
  prepare(message: Message): Promise<
    | Failure
    /** `release` gives back what was reserved, if it does not act. */
    | { readonly status: 'ready'; readonly act: Act; readonly release?: () => Promise<void> }
    | { readonly status: 'postponed'; readonly facts: readonly NewEvent[] }
  >
  /** The outcome of an attempt that was interrupted, by a crash for example. */
  recover(message: Message, row: DeliveryRow, signal: AbortSignal): Promise<Outcome>
  /** Puts the facts of this transport around the end of a delivery. */
  aroundEnd(event: Requested, outcome: Outcome, ended: NewEvent): NewEvent[]
  /** Additional facts about an attempt that will be retried. */
  delayed(event: Requested, attempt: number, kind: Failure['kind']): NewEvent[]
}

export function failed(kind: Failure['kind'], { mayRetry = false, retryAfterMs = 0 } = {}): Failure {
  return { status: 'failed', kind, mayRetry, retryAfterMs }
}
