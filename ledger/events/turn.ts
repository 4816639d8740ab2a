import * as z from 'zod'
import { countSchema, defineEvent, foreignSchema, idSchema, seqSchema, wordSchema } from '../define-event.ts'

/** Enough to show where a turn's words come from. */
export const MAX_FOREIGN_SEQS = 50

/** Tokens as the model service counted them. */
export const usageSchema = z.strictObject({
  inputTokens: countSchema,
  outputTokens: countSchema,
  cachedTokens: countSchema,
})

/** The provider, and its name for the model. */
export const modelIdSchema = z.strictObject({ provider: z.string().max(100), model: z.string().max(200) })

/** How many messages and standing instructions a model was not given, and of how many items only a part. */
const leftOutSchema = z.strictObject({
  contextTokens: countSchema,
  messages: countSchema,
  instructions: countSchema,
  shortened: countSchema,
})

/** Why a request to a model service fails. */
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

/** More models than may stand in for a chat model. */
const MAX_FAILED_MODELS = 10

/** What the delegate did, why, and what it cost. */
export const turnEvents = {
  'turn.started': defineEvent({
    internal: true,
    facts: {
      trigger: z.enum(['message', 'activation', 'call', 'sms']),
      party: z.enum(['owner', 'guest']),
      model: modelIdSchema,
      /** Adaptations in force, in the order given to the model. */
      adaptationIds: z.array(idSchema),
      /** Signals attached to this turn. */
      signalIds: z.array(idSchema),
    },
  }),
  'turn.completed': defineEvent({
    internal: true,
    facts: {
      /** The model that answered. */
      model: modelIdSchema,
      /** The models that failed before it, and why; absent if none did. */
      failedModels: z
        .array(z.strictObject({ model: modelIdSchema, kind: z.enum(modelFailureKinds) }))
        .max(MAX_FAILED_MODELS)
        .optional(),
      usage: usageSchema,
      /** Input tokens of the last request: the current size of the context. */
      contextTokens: countSchema,
      responseId: idSchema.nullable(),
      rounds: countSchema,
      durationMs: countSchema,
      /** What did not fit into a small context. Absent if nothing was left out. */
      leftOut: leftOutSchema.optional(),
      /** The facts with words of others that the model was given: the latest 50. Absent in older facts. */
      foreignSeqs: z.array(seqSchema).max(MAX_FOREIGN_SEQS).optional(),
    },
  }),
  /** `text` is shown to the owner. */
  'turn.failed': defineEvent({
    facts: {
      kind: z.enum([
        'interrupted',
        'stopped',
        ...modelFailureKinds,
        'too_many_rounds',
        'budget',
        'allowance',
        'internal',
      ]),
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
      /** What the call created or changed; the content stays in the event that created it. */
      refs: z.array(
        z.strictObject({ kind: z.enum(['note', 'memory', 'timer', 'task', 'delivery']), id: idSchema }),
      ),
    },
    body: { result: z.string() },
  }),
  /** A round's native items (reasoning, calls), sent back unchanged to the same model. */
  'turn.items.kept': defineEvent({
    internal: true,
    facts: { model: modelIdSchema, round: countSchema, items: countSchema },
    body: { blob: z.string() },
    opaque: ['blob'],
  }),
}
