import * as z from 'zod'
import { defineEvent } from '../define-event.ts'

/** What was said in the browser. `turnId` in the envelope ties a message to its reply. */
export const chatEvents = {
  'chat.message.received': defineEvent({ facts: {}, body: { text: z.string().min(1) } }),
  'chat.reply.sent': defineEvent({ facts: {}, body: { text: z.string() } }),
  /** The owner pressed stop; `text` is what had been said so far. */
  'chat.reply.stopped': defineEvent({ facts: {}, body: { text: z.string() } }),
}
