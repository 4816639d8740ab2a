import * as z from 'zod'
import { defineEvent, foreignSchema, idSchema } from '../define-event.ts'

/** What was said in the browser. `turnId` in the envelope ties a message to its reply. */
export const chatEvents = {
  'chat.message.received': defineEvent({
    /** `spoken`: to a device and not typed in the browser, so anybody may have said it. */
    facts: { spoken: z.boolean().optional() },
    body: { text: z.string().min(1) },
  }),
  /** With a `deliveryId` it is no reply but the outcome of a task, delivered. */
  'chat.reply.sent': defineEvent({
    facts: { deliveryId: idSchema.optional(), foreign: foreignSchema },
    body: { text: z.string() },
  }),
  /** The owner pressed stop; `text` is what had been said so far. */
  'chat.reply.stopped': defineEvent({ facts: { foreign: foreignSchema }, body: { text: z.string() } }),
}
