import * as z from 'zod'
import { defineEvent, foreignSchema, idSchema } from '../define-event.ts'

/** What was said in the browser. `turnId` in the envelope ties a message to its reply. */
export const chatEvents = {
  'chat.message.received': defineEvent({
    /** `spoken`: said to a device rather than typed in the browser, so anybody may have said it. */
    facts: { spoken: z.boolean().optional() },
    body: { text: z.string().min(1) },
  }),
  /** With a `deliveryId`: not a reply but the delivered outcome of a task. */
  'chat.reply.sent': defineEvent({
    facts: { deliveryId: idSchema.optional(), foreign: foreignSchema },
    body: { text: z.string() },
  }),
  /** The owner stopped the reply; `text` is the part written so far. */
  'chat.reply.stopped': defineEvent({ facts: { foreign: foreignSchema }, body: { text: z.string() } }),
}
