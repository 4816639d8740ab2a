import type { EventOf, NewEvent } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import type { SpendingQueries } from '../../../projections/spending.ts'
import { english } from '../../language/message.ts'
import { DAY_MS } from '../../lib/time.ts'
import type { Use } from '../../model/port.ts'
import { dollarsText, toMicros } from '../../model/prices.ts'
import type { Settings } from '../../settings/settings.ts'
import { rollingCount } from '../rolling.ts'

type Window = EventOf<'allowance.reached'>['facts']['window']
type Purpose = Use['purpose']

export type WindowState = {
  readonly window: Window
  /** Settled, and reserved. */
  readonly spentMicros: number
  /** With what the owner allowed in addition. */
  readonly limitMicros: number
}

const HOUR_MS = 3_600_000
export const WINDOW_MS: Readonly<Record<Window, number>> = { day: DAY_MS, month: 30 * DAY_MS }
export const WINDOW_WORDS: Readonly<Record<Window, string>> = {
  day: english`24 hours`,
  month: english`30 days`,
}

/** What nobody waits for stops at this share of the allowance, so that the owner is answered for longer. */
const BACKGROUND_SHARE = 0.9
const BACKGROUND: ReadonlySet<Purpose> = new Set([
  'activation',
  'learning',
  'compaction',
  'embedding',
  // Strangers must not use up the owner's last money.
  'guest',
])

/** Where the owner finds a notice: in the exchange that caused it, if it is the owner's. */
export function noticePlace({
  purpose,
  ...place
}: Use): Pick<NewEvent, 'channel' | 'conversationId' | 'spanId' | 'turnId'> {
  const isOwners = purpose === 'reply' || purpose === 'recall' || purpose === 'call'
  return isOwners ? { channel: 'chat', ...place } : { channel: 'system' }
}

export type Allowance = ReturnType<typeof createAllowance>

/**
 * What may be spent in any 24 hours and any 30 days. Counted from the ledger in whole hours, so a window may
 * reach back up to an hour further.
 */
export function createAllowance(options: {
  readonly spending: SpendingQueries
  readonly ledger: Pick<LedgerReader, 'lastSeqBefore'>
  readonly settings: Pick<Settings, 'get'>
  readonly nowMs: () => number
}) {
  const { spending, settings, nowMs } = options
  /** The amount that was last refused for a purpose: until it fits, another attempt would be refused too. */
  const refused = new Map<Purpose, number>()

  function stateOf(window: Window): WindowState {
    const allowed = settings.get(window === 'day' ? 'ALLOWANCE_DAY' : 'ALLOWANCE_MONTH')
    const since = new Date(nowMs() - WINDOW_MS[window]).toISOString()
    return {
      window,
      spentMicros: rollingCount(options, WINDOW_MS[window], spending.totalFrom, HOUR_MS),
      limitMicros: toMicros(allowed) + spending.raisedSince(since),
    }
  }

  /** The window that an amount would overdraw; null if it is affordable. */
  function overdrawn(purpose: Purpose, micros: number): WindowState | null {
    const share = BACKGROUND.has(purpose) ? BACKGROUND_SHARE : 1
    const fits = ({ spentMicros, limitMicros }: WindowState) => spentMicros + micros <= limitMicros * share
    const day = stateOf('day')
    if (!fits(day)) return day
    const month = stateOf('month')
    return fits(month) ? null : month
  }

  /** Whether spending reached a level for the first time since it was below it, or the limit was higher then. */
  function isNews({ window, limitMicros }: WindowState, level: 80 | 100): boolean {
    const last = spending.reached(window, level)
    return !last || limitMicros > last.limitMicros || nowMs() - Date.parse(last.at) >= WINDOW_MS[window]
  }

  function reachedFact(state: WindowState, level: 80 | 100, use: Use): NewEvent {
    const before = spending.reached(state.window, level)?.seq ?? 0
    return {
      type: 'allowance.reached',
      actor: 'service',
      ...noticePlace(use),
      key: `allowance-reached:${state.window}:${level}:${before}`,
      facts: { ...state, level },
    }
  }

  return {
    state: (): readonly WindowState[] => [stateOf('day'), stateOf('month')],
    /** The window that forbids an amount; null if it is affordable. Remembers a refusal. */
    refuse(purpose: Purpose, micros: number): WindowState | null {
      const state = overdrawn(purpose, micros)
      if (state === null) refused.delete(purpose)
      else refused.set(purpose, micros)
      return state
    },
    /** Whether nothing can be spent on a purpose now. Does not change what is remembered. */
    isSpent: (purpose: Purpose, micros = 1) =>
      overdrawn(purpose, Math.max(micros, refused.get(purpose) ?? 0)) !== null,
    isBackground: (purpose: Purpose) => BACKGROUND.has(purpose),
    /** The facts of the levels that are reached and not recorded. */
    news: (use: Use): NewEvent[] =>
      [stateOf('day'), stateOf('month')].flatMap((state) => {
        const isReached = state.limitMicros > 0 && state.spentMicros >= state.limitMicros * 0.8
        return isReached && isNews(state, 80) ? [reachedFact(state, 80, use)] : []
      }),
    /** The fact that a window is used up; none if it is recorded. */
    usedUp: (state: WindowState, use: Use): NewEvent[] =>
      isNews(state, 100) ? [reachedFact(state, 100, use)] : [],
  }
}

/** What the owner is told when an amount is refused; also in a fact. */
export function refusalText({ window, spentMicros, limitMicros }: WindowState, micros: number): string {
  const left = dollarsText(Math.max(0, limitMicros - spentMicros))
  const values = [dollarsText(limitMicros), left, dollarsText(micros)] as const
  return window === 'day' ? dayText(...values) : monthText(...values)
}

const dayText = (limit: string, left: string, cost: string) =>
  english`The allowance of ${limit} for 24 hours is used up: ${left} is left, and this may cost up to ${cost}. Allow more, or try again later.`
const monthText = (limit: string, left: string, cost: string) =>
  english`The allowance of ${limit} for 30 days is used up: ${left} is left, and this may cost up to ${cost}. Allow more, or try again later.`
