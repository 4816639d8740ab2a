import * as z from 'zod'
import { defineEvent } from '../define-event.ts'

/** While halted, the delegate answers in chat and does nothing else. */
export const haltEvents = {
  'delegation.halted': defineEvent({ facts: { by: z.enum(['browser', 'sms', 'voice', 'shell']) } }),
  /** The owner ended the halt in the browser. */
  'delegation.released': defineEvent({ facts: {} }),
}
