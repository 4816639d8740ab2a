import * as z from 'zod'
import { defineEvent, idSchema, seqSchema } from '../define-event.ts'

/** Facts that the owner should notice soon, wherever they are. */
export const notificationKinds = ['reminder', 'task', 'confirmation', 'call', 'budget'] as const

/** Notifications name the fact that they are about by its seq. */
export const notificationEvents = {
  /** The owner was there when these were shown, or has dealt with them. */
  'notification.seen': defineEvent({
    internal: true,
    facts: { seqs: z.array(seqSchema).min(1).max(1_000) },
  }),
  /** A browser may be notified by push. Its address is in the settings. */
  'push.subscribed': defineEvent({
    internal: true,
    facts: { subscriptionId: idSchema, sessionId: idSchema },
  }),
  'push.unsubscribed': defineEvent({
    internal: true,
    facts: { subscriptionId: idSchema, reason: z.enum(['owner', 'expired']) },
  }),
}
