import * as z from 'zod'
import { countSchema, defineEvent, idSchema, wordSchema } from '../define-event.ts'

const party = z.enum(['owner', 'guest'])
/**
 * What vouches for the caller: a level of STIR/SHAKEN attestation, `client` for the provider's voice client, which
 * presents a token of this service, `session` for a talk in a browser that is signed in, or none.
 */
const attestation = z.enum(['full', 'partial', 'gateway', 'failed', 'client', 'session', 'none'])

/** Phone calls, and how much of each reply the caller heard. */
export const voiceEvents = {
  'call.offered': defineEvent({
    facts: { callSid: idSchema, party, attestation: attestation.optional() },
    body: { from: z.string() },
  }),
  'call.rejected': defineEvent({
    facts: {
      callSid: idSchema,
      party,
      reason: z.enum(['busy', 'not_configured', 'budget', 'no_realtime_model', 'halted']),
    },
    body: { from: z.string() },
  }),
  'call.connected': defineEvent({ facts: { callSid: idSchema, streamSid: idSchema, party } }),
  'call.utterance.heard': defineEvent({
    facts: { callSid: idSchema, itemId: idSchema, party, transcribed: z.boolean() },
    body: { text: z.string() },
  }),
  /**
   * `generatedText` is what the model produced; `text` is the prefix of it that was heard. What the call says by itself,
   * such as an apology, has no response.
   */
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
  /** A status of a call or its stream, as the provider reports it; each once. */
  'call.status.reported': defineEvent({
    internal: true,
    facts: { callSid: idSchema, of: z.enum(['call', 'stream']), status: wordSchema },
  }),
  /** What was entered on the keypad is never recorded. */
  'call.pin.accepted': defineEvent({ facts: { callSid: idSchema } }),
  'call.pin.refused': defineEvent({ facts: { callSid: idSchema } }),
  'call.ended': defineEvent({
    /** Older facts do not say whose call it was. */
    facts: { callSid: idSchema, party: party.optional(), reason: wordSchema, durationMs: countSchema },
  }),
}
