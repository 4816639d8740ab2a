import * as z from 'zod'
import { countSchema, defineEvent, foreignSchema, idSchema, wordSchema } from '../define-event.ts'

/** Tokens as the model service counted them. */
export const usageSchema = z.strictObject({
  inputTokens: countSchema,
  outputTokens: countSchema,
  cachedTokens: countSchema,
})

/** Which model answered: a provider's name and its name for the model. */
export const modelIdSchema = z.strictObject({ provider: z.string().max(100), model: z.string().max(200) })

/** What a model service can fail with: what was asked of it comes to nothing, and why it did is said in these words. */
export const modelFailureKinds = [
  'auth',
  'quota',
  'rate_limited',
  'unavailable',
  'timeout',
  'malformed',
  'refused',
  'context_too_long',
] as const

/** What the delegate did, why, and what it cost. */
export const turnEvents = {
  'turn.started': defineEvent({
    internal: true,
    facts: {
      trigger: z.enum(['message', 'activation', 'call', 'sms']),
      party: z.enum(['owner', 'guest']),
      model: modelIdSchema,
      /** Adaptations in force, in the order in which the model was given them. */
      adaptationIds: z.array(idSchema),
      /** Signals that this turn took with it. */
      signalIds: z.array(idSchema),
    },
  }),
  'turn.completed': defineEvent({
    internal: true,
    facts: {
      model: modelIdSchema,
      usage: usageSchema,
      /** The input of the last request: what the context holds now. */
      contextTokens: countSchema,
      responseId: idSchema.nullable(),
      rounds: countSchema,
      durationMs: countSchema,
    },
  }),
  /** The turn came to nothing; the chain of context is as it was before it. `text` is what the owner is told. */
  'turn.failed': defineEvent({
    facts: {
      kind: z.enum(['interrupted', 'stopped', ...modelFailureKinds, 'too_many_rounds', 'budget', 'internal']),
      usage: usageSchema.optional(),
      durationMs: countSchema.optional(),
    },
    body: { text: z.string() },
  }),

  'tool.called': defineEvent({
    internal: true,
    facts: {
      callId: idSchema,
      tool: z.string().max(100),
      round: countSchema,
      idempotent: z.boolean(),
      foreign: foreignSchema,
    },
    body: { arguments: z.string() },
  }),
  'tool.returned': defineEvent({
    internal: true,
    facts: {
      callId: idSchema,
      tool: z.string().max(100),
      outcome: z.enum(['ok', 'refused', 'failed']),
      reason: wordSchema.optional(),
      durationMs: countSchema,
      foreign: foreignSchema,
      /** Ids of what the call made or changed; its content stays in the event that created it. */
      refs: z.array(
        z.strictObject({ kind: z.enum(['note', 'memory', 'timer', 'task', 'delivery']), id: idSchema }),
      ),
    },
    body: { result: z.string() },
  }),
  /** The service's own items of a round (reasoning, calls), to be sent back unchanged to the same model. */
  'turn.items.kept': defineEvent({
    internal: true,
    facts: { model: modelIdSchema, round: countSchema, items: countSchema },
    body: { blob: z.string() },
    opaque: ['blob'],
  }),
}
