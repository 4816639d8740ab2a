import * as z from 'zod'
import { countSchema, defineEvent, idSchema, wordSchema } from '../define-event.ts'

const party = z.enum(['owner', 'guest'])

/** What was said on the phone, and how much of it the caller heard. */
export const voiceEvents = {
  'call.offered': defineEvent({ facts: { callSid: idSchema, party }, body: { from: z.string() } }),
  'call.rejected': defineEvent({
    facts: {
      callSid: idSchema,
      party,
      reason: z.enum(['busy', 'not_configured', 'budget', 'no_realtime_model']),
    },
    body: { from: z.string() },
  }),
  'call.connected': defineEvent({ facts: { callSid: idSchema, streamSid: idSchema, party } }),
  'call.utterance.heard': defineEvent({
    facts: { callSid: idSchema, itemId: idSchema, party, transcribed: z.boolean() },
    body: { text: z.string() },
  }),
  /** `text` is what was heard, `generatedText` what the model produced: the former is a prefix of the latter. */
  'call.reply.spoken': defineEvent({
    facts: {
      callSid: idSchema,
      itemId: idSchema,
      responseId: idSchema.nullable(),
      heardMs: countSchema,
      sentMs: countSchema,
      interrupted: z.boolean(),
    },
    body: { text: z.string(), generatedText: z.string() },
  }),
  'call.interrupted': defineEvent({
    internal: true,
    facts: { callSid: idSchema, itemId: idSchema.nullable(), heardMs: countSchema, sentMs: countSchema },
  }),
  /** How the provider itself tells that a call or its stream goes, in its words; each once. */
  'call.status.reported': defineEvent({
    internal: true,
    facts: { callSid: idSchema, of: z.enum(['call', 'stream']), status: wordSchema },
  }),
  'call.ended': defineEvent({
    facts: { callSid: idSchema, reason: wordSchema, durationMs: countSchema },
  }),
}
