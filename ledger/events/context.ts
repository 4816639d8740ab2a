import * as z from 'zod'
import { countSchema, defineEvent, foreignSchema, idSchema, seqSchema } from '../define-event.ts'
import { modelFailureKinds, modelIdSchema, usageSchema } from './turn.ts'

const source = z.enum(['manual', 'automatic'])
const failureKinds = ['interrupted', 'empty', ...modelFailureKinds, 'internal'] as const

/** The chain to continue from, also after a crash. */
export const contextEvents = {
  'context.usage.recorded': defineEvent({
    internal: true,
    facts: {
      inputTokens: countSchema,
      outputTokens: countSchema,
      cachedTokens: countSchema,
      compactThresholdTokens: countSchema,
    },
  }),
  'context.compaction.requested': defineEvent({
    internal: true,
    facts: { compactionId: idSchema, source, throughSeq: seqSchema, inputTokensBefore: countSchema },
  }),
  /**
   * From now on the context is the replacement, then everything after `throughSeq`. `replacement` is the
   * provider's opaque form; `text` is the capsule that any other model gets instead.
   */
  'context.compaction.succeeded': defineEvent({
    internal: true,
    facts: {
      compactionId: idSchema,
      source,
      method: z.enum(['endpoint', 'model', 'builtin']),
      model: modelIdSchema,
      throughSeq: seqSchema,
      inputTokensBefore: countSchema,
      inputTokensAfter: countSchema,
      usage: usageSchema,
      /** Of what it replaces. */
      foreign: foreignSchema,
    },
    body: { text: z.string(), replacement: z.string().nullable() },
    opaque: ['replacement'],
  }),
  'context.compaction.failed': defineEvent({
    internal: true,
    facts: {
      compactionId: idSchema,
      source,
      kind: z.enum(['busy', 'not_smaller', 'commitments_lost', ...failureKinds]),
    },
  }),
  /** The first successful turn on a replacement proves that it works. */
  'context.replacement.consumed': defineEvent({
    internal: true,
    facts: { compactionId: idSchema, form: z.enum(['opaque', 'text']) },
  }),
  'context.capsule.written': defineEvent({
    internal: true,
    facts: {
      source: z.enum(['compaction', 'threshold', 'erasure', 'checkpoint']),
      method: z.enum(['model', 'builtin']),
      throughSeq: seqSchema,
      usage: usageSchema,
    },
    body: { text: z.string() },
  }),
  /** The next attempt is made after another threshold of tokens. */
  'context.capsule.failed': defineEvent({
    internal: true,
    facts: { source: z.enum(['threshold']), kind: z.enum(failureKinds) },
  }),
}
