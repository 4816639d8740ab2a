import * as z from 'zod'
import { countSchema, defineEvent, idSchema, seqSchema, timeSchema, wordSchema } from '../define-event.ts'

/** What the delegate noticed and did about it, and its timers. */
export const signalEvents = {
  'signal.raised': defineEvent({
    internal: true,
    facts: {
      signalId: idSchema,
      kind: wordSchema,
      mode: z.enum(['ambient', 'next-turn', 'wake', 'interrupt']),
      priority: z.int().min(0).max(9),
      /** Names its subject (a timer's occurrence, a task, a text): at most one signal for each. */
      dedupKey: z.string().max(200),
    },
    body: { text: z.string() },
  }),
  'activation.started': defineEvent({
    internal: true,
    facts: { activationId: idSchema, signalIds: z.array(idSchema), attempt: countSchema },
  }),
  'activation.completed': defineEvent({
    internal: true,
    facts: { activationId: idSchema, signalIds: z.array(idSchema), outcome: z.enum(['spoke', 'silent']) },
  }),
  'activation.failed': defineEvent({
    internal: true,
    facts: {
      activationId: idSchema,
      signalIds: z.array(idSchema),
      kind: wordSchema,
      attempt: countSchema,
      final: z.boolean(),
      retryAt: timeSchema.nullable(),
    },
  }),
  'signal.dismissed': defineEvent({
    internal: true,
    facts: { signalIds: z.array(idSchema), reason: z.enum(['attached', 'expired', 'superseded', 'owner']) },
  }),

  'timer.set': defineEvent({
    facts: {
      timerId: idSchema,
      /** The first occurrence, or the only one of a one-off. */
      dueAt: timeSchema,
      /** A cron expression in the owner's time zone; null for a one-off. */
      recurrence: z.string().max(100).nullable(),
      timezone: z.string().max(64),
      /** How to handle an occurrence during downtime. */
      missedPolicy: z.enum(['fire_once', 'skip']),
      by: z.enum(['owner', 'delegate']),
      /** Some of the title was pasted on the page, so anybody may have written it. */
      pasted: z.boolean().optional(),
      /** The occurrence that it reminds of again. */
      snoozes: z.strictObject({ timerId: idSchema, occurrence: timeSchema }).optional(),
    },
    body: { title: z.string() },
  }),
  /** The schedule and title of an active timer from now on, also those that stay. */
  'timer.changed': defineEvent({
    facts: {
      timerId: idSchema,
      dueAt: timeSchema,
      recurrence: z.string().max(100).nullable(),
      timezone: z.string().max(64),
      by: z.enum(['owner', 'delegate']),
      pasted: z.boolean().optional(),
    },
    body: { title: z.string() },
  }),
  /** The reminder that the owner sees; `text` is the timer's title. */
  'timer.fired': defineEvent({
    version: 2,
    facts: { timerId: idSchema, occurrence: timeSchema, nextAt: timeSchema.nullable() },
    body: { text: z.string() },
  }),
  /** Occurrences that passed without a reminder; `text` is the timer's title. */
  'timer.missed': defineEvent({
    version: 2,
    facts: { timerId: idSchema, occurrence: timeSchema, missed: countSchema, nextAt: timeSchema.nullable() },
    body: { text: z.string() },
  }),
  /** An occurrence that is ticked off. */
  'timer.done': defineEvent({
    facts: { timerId: idSchema, occurrence: timeSchema, by: z.enum(['owner', 'delegate']) },
  }),
  'timer.cancelled': defineEvent({
    facts: { timerId: idSchema, by: z.enum(['owner', 'delegate']), setSeq: seqSchema.optional() },
  }),
}
