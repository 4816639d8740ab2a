import * as z from 'zod'
import { countSchema, defineEvent, idSchema, timeSchema, wordSchema } from '../define-event.ts'

const deliveryChannel = z.enum(['chat', 'sms', 'webhook'])

/** Work handed to the coding assistant, and what of it reached the owner. */
export const taskEvents = {
  'task.dispatched': defineEvent({
    facts: {
      taskId: idSchema,
      notify: deliveryChannel,
      timeoutMinutes: countSchema,
      by: z.enum(['owner', 'delegate']),
      /** The task that is tried again by this one. */
      retryOf: idSchema.optional(),
    },
    body: { title: z.string(), prompt: z.string() },
  }),
  'task.progressed': defineEvent({
    internal: true,
    facts: { taskId: idSchema, source: z.enum(['started', 'callback', 'output']), pid: z.int().optional() },
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
      kind: z.enum(['callback', 'exit', 'timeout', 'spawn', 'interrupted', 'not_configured']),
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
      /** The delivery that failed for good on another channel, in whose place this one is made. */
      fallbackOf: idSchema.optional(),
      /** The delivery that the owner asked to have made again. */
      retryOf: idSchema.optional(),
    },
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
  /** The channel could not say whether it arrived: recorded, shown, never repeated blindly. */
  'delivery.unknown': defineEvent({
    facts: { deliveryId: idSchema, channel: deliveryChannel, attempt: countSchema },
  }),
}
