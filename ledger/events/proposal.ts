import * as z from 'zod'
import { defineEvent, idSchema, timeSchema, wordSchema } from '../define-event.ts'

const choiceSchema = z.string().max(200)
/** Given on the keypad of a phone; absent if in the browser. */
const by = z.enum(['keypad']).optional()

/** Actions that the delegate may take only after the owner confirms them. */
export const proposalEvents = {
  'proposal.made': defineEvent({
    version: 2,
    facts: {
      proposalId: idSchema,
      kind: z.enum(['sms', 'tool']),
      expiresAt: timeSchema,
      /** For `tool`: the tool's name, and the SHA-256 of name, arguments, subject and salt as canonical JSON. */
      tool: z.string().max(100).optional(),
      digest: idSchema.optional(),
      /** What the owner chooses from: `memory:` and an id, or `message:` and a seq. */
      choices: z.array(choiceSchema).max(50).optional(),
      /** The class of the tool. Absent in older facts, which count as consequential. */
      class: z.enum(['free', 'guarded', 'consequential']).optional(),
    },
    body: {
      /** For `sms`: the phone number. For `tool`: a sentence that says what it would do. */
      target: z.string(),
      /** For `sms`: the text. For `tool`: the words at stake, such as a prompt. */
      text: z.string(),
      /** The label of the button that confirms. */
      verb: z.string().optional(),
      /** Where the request came from. */
      why: z.string().optional(),
      /** JSON: the tool's exact arguments. */
      arguments: z.string().optional(),
      /** The subject, as it was when the proposal was made. */
      subject: z.string().optional(),
      /** Erased with the arguments, so that they cannot be guessed from the digest. Absent in older facts. */
      salt: z.string().optional(),
    },
  }),
  /** A proposal is confirmed or declined once, never both. */
  'proposal.confirmed': defineEvent({
    facts: {
      proposalId: idSchema,
      /** For a proposal with choices: those that the owner chose. */
      chosen: z.array(choiceSchema).max(50).optional(),
      by,
    },
  }),
  'proposal.declined': defineEvent({ facts: { proposalId: idSchema, by } }),
  /** The outcome of a confirmed tool call. `text` gives the reason if it was not done. */
  'proposal.completed': defineEvent({
    facts: {
      proposalId: idSchema,
      outcome: z.enum(['done', 'refused', 'failed']),
      reason: wordSchema.optional(),
    },
    body: { text: z.string() },
  }),
}
