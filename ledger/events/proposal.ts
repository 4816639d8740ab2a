import * as z from 'zod'
import { defineEvent, idSchema, timeSchema, wordSchema } from '../define-event.ts'

/** What the delegate would do, and may only once the owner has said so in the browser. */
export const proposalEvents = {
  'proposal.made': defineEvent({
    version: 2,
    facts: {
      proposalId: idSchema,
      kind: z.enum(['sms', 'tool']),
      expiresAt: timeSchema,
      /** Of a tool's: which, and the SHA-256 of its name, arguments and subject as canonical JSON. */
      tool: z.string().max(100).optional(),
      digest: idSchema.optional(),
    },
    body: {
      /** The number of a text; what a tool would do, in a sentence. */
      target: z.string(),
      /** The words of a text; those at stake, such as a prompt. */
      text: z.string(),
      /** The label of the button that confirms. */
      verb: z.string().optional(),
      /** Where the wish came from. */
      why: z.string().optional(),
      /** JSON: exactly what the tool is called with. */
      arguments: z.string().optional(),
      /** What it is done to, as it was then. */
      subject: z.string().optional(),
    },
  }),
  /** Confirmed or declined: one of the two, once. */
  'proposal.confirmed': defineEvent({ facts: { proposalId: idSchema } }),
  'proposal.declined': defineEvent({ facts: { proposalId: idSchema } }),
  /** What came of a confirmed tool. `text` says why where nothing did. */
  'proposal.completed': defineEvent({
    facts: {
      proposalId: idSchema,
      outcome: z.enum(['done', 'refused', 'failed']),
      reason: wordSchema.optional(),
    },
    body: { text: z.string() },
  }),
}
