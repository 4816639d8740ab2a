import * as z from 'zod'
import { defineEvent, idSchema } from '../define-event.ts'

/** What was said in the browser. `turnId` in the envelope ties a message to its reply. */
export const chatEvents = {
  'chat.message.received': defineEvent({ facts: {}, body: { text: z.string().min(1) } }),
  /** With a `deliveryId` it is no reply but the outcome of a task, delivered. */
  'chat.reply.sent': defineEvent({
    facts: { deliveryId: idSchema.optional() },
    body: { text: z.string() },
  }),
  /** The owner pressed stop; `text` is what had been said so far. */
  'chat.reply.stopped': defineEvent({ facts: {}, body: { text: z.string() } }),
}
