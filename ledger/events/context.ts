import * as z from 'zod'
import { countSchema, defineEvent, idSchema, seqSchema } from '../define-event.ts'
import { modelFailureKinds, modelIdSchema, usageSchema } from './turn.ts'

const source = z.enum(['manual', 'automatic'])
const failureKinds = ['interrupted', 'empty', ...modelFailureKinds, 'internal'] as const

/** The chain to continue from, after a crash too. */
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
   * From now on the context is `replacement`, then everything after `throughSeq`. `opaque` is the provider's
   * own form, `text` the capsule that stands in for it with any other model.
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
  /** The first turn that succeeded on a replacement: proof that it can be continued from. */
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
  /** The next try comes after as many tokens as before the first. */
  'context.capsule.failed': defineEvent({
    internal: true,
    facts: { source: z.enum(['threshold']), kind: z.enum(failureKinds) },
  }),
}
