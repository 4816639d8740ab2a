import * as z from 'zod'
import { defineEvent, idSchema, timeSchema } from '../define-event.ts'

/** What the delegate would do, and may only once the owner has said so in the browser. */
export const proposalEvents = {
  'proposal.made': defineEvent({
    facts: { proposalId: idSchema, kind: z.enum(['sms']), expiresAt: timeSchema },
    body: { target: z.string(), text: z.string() },
  }),
  /** Confirmed or declined: one of the two, once. */
  'proposal.confirmed': defineEvent({ facts: { proposalId: idSchema } }),
  'proposal.declined': defineEvent({ facts: { proposalId: idSchema } }),
}
