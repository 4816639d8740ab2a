import * as z from 'zod'
import { defineEvent } from '../define-event.ts'

/** The open conversation, and the spans that fold together on the timeline. */
export const conversationEvents = {
  'conversation.started': defineEvent({ facts: {} }),
  'conversation.ended': defineEvent({ facts: { reason: z.enum(['owner', 'restart']) } }),

  'span.opened': defineEvent({
    facts: { kind: z.enum(['interaction', 'call', 'activation', 'delivery']) },
  }),
  'span.closed': defineEvent({
    facts: {
      reason: z.enum([
        'completed',
        'failed',
        'idle',
        'length',
        'conversation_ended',
        'hangup',
        'cancelled',
        'interrupted',
      ]),
    },
  }),
}
