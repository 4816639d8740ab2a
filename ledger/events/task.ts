import * as z from 'zod'
import { countSchema, defineEvent, idSchema, seqSchema, timeSchema, wordSchema } from '../define-event.ts'

const outcomeChannels = ['chat', 'sms', 'webhook'] as const
const deliveryChannel = z.enum([...outcomeChannels, 'push'])

/** Work handed to the coding assistant, and the delivery of its outcome. */
export const taskEvents = {
  'task.dispatched': defineEvent({
    facts: {
      taskId: idSchema,
      notify: z.enum(outcomeChannels),
      timeoutMinutes: countSchema,
      by: z.enum(['owner', 'delegate']),
      /** The task that this one retries. */
      retryOf: idSchema.optional(),
    },
    body: { title: z.string(), prompt: z.string() },
  }),
  'task.progressed': defineEvent({
    internal: true,
    facts: {
      taskId: idSchema,
      source: z.enum(['started', 'callback', 'output']),
      pid: z.int().optional(),
      /** What keeps the program from the service's data; absent in facts of older builds. */
      isolation: z.enum(['bubblewrap', 'user', 'none']).optional(),
    },
    body: { text: z.string() },
  }),
  'task.finished': defineEvent({
    facts: {
      taskId: idSchema,
      source: z.enum(['callback', 'exit']),
      exitCode: z.int().nullable(),
      durationMs: countSchema,
    },
    body: { text: z.string() },
  }),
  'task.failed': defineEvent({
    facts: {
      taskId: idSchema,
      kind: z.enum(['callback', 'exit', 'timeout', 'spawn', 'interrupted', 'not_configured', 'isolation']),
      exitCode: z.int().nullable(),
      durationMs: countSchema,
    },
    body: { text: z.string() },
  }),
  'task.cancelled': defineEvent({ facts: { taskId: idSchema, by: z.enum(['owner', 'delegate']) } }),

  'delivery.requested': defineEvent({
    internal: true,
    facts: {
      deliveryId: idSchema,
      channel: deliveryChannel,
      taskId: idSchema.nullable(),
      maxAttempts: countSchema,
      /** The delivery on another channel that failed for good and that this one replaces. */
      fallbackOf: idSchema.optional(),
      /** The delivery that the owner asked to retry. */
      retryOf: idSchema.optional(),
      /** The notification that it is for. */
      notification: seqSchema.optional(),
    },
    /** By `push`: the id of the subscription, and no words. */
    body: { target: z.string(), text: z.string() },
  }),
  'delivery.attempted': defineEvent({
    internal: true,
    facts: { deliveryId: idSchema, channel: deliveryChannel, attempt: countSchema },
  }),
  'delivery.succeeded': defineEvent({
    internal: true,
    facts: {
      deliveryId: idSchema,
      channel: deliveryChannel,
      attempt: countSchema,
      providerId: idSchema.nullable(),
    },
  }),
  'delivery.failed': defineEvent({
    internal: true,
    facts: {
      deliveryId: idSchema,
      channel: deliveryChannel,
      attempt: countSchema,
      kind: wordSchema,
      final: z.boolean(),
      retryAt: timeSchema.nullable(),
    },
  }),
  /** The channel cannot tell whether it arrived. Shown to the owner, never retried automatically. */
  'delivery.unknown': defineEvent({
    facts: { deliveryId: idSchema, channel: deliveryChannel, attempt: countSchema },
  }),
}
