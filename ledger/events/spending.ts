import * as z from 'zod'
import { countSchema, defineEvent, idSchema } from '../define-event.ts'
import { modelIdSchema } from './turn.ts'

/** What money is spent on. The channel is in the envelope. */
export const spendingPurposes = [
  'reply',
  'guest',
  'activation',
  'learning',
  'recall',
  'compaction',
  'embedding',
  'speech',
  'call',
  'text',
] as const

/** The allowance holds for any 24 hours, and for any 30 days. */
export const allowanceWindows = ['day', 'month'] as const

/** Millionths of a US dollar. */
const microsSchema = countSchema

/** What requests, calls and texts cost. */
export const spendingEvents = {
  /** An upper bound, recorded before the money can be spent. It counts in full until it is settled. */
  'spend.reserved': defineEvent({
    internal: true,
    facts: {
      reservationId: idSchema,
      purpose: z.enum(spendingPurposes),
      /** Null if no model is asked, as for a text. */
      model: modelIdSchema.nullable(),
      amountMicros: microsSchema,
    },
  }),
  /** What it really cost. More than was reserved only if the service reports more. */
  'spend.settled': defineEvent({
    internal: true,
    facts: { reservationId: idSchema, amountMicros: microsSchema },
  }),
  /** Recorded once for each time that spending reaches this share of the allowance, in percent. */
  'allowance.reached': defineEvent({
    facts: {
      window: z.enum(allowanceWindows),
      /** 80 or 100. */
      level: countSchema,
      spentMicros: microsSchema,
      limitMicros: microsSchema,
    },
  }),
  /** The owner allows more. It counts for the next 24 hours, and for the next 30 days. */
  'allowance.raised': defineEvent({ facts: { amountMicros: microsSchema } }),
  /** The price table lacks this model. Asked once for each model. */
  'price.missing': defineEvent({ facts: { model: modelIdSchema } }),
}
