import * as z from 'zod'
import { countSchema, defineEvent, idSchema, seqSchema, timeSchema, wordSchema } from '../define-event.ts'
import { usageSchema } from './turn.ts'

export const memoryKinds = ['identity', 'preference', 'relation', 'plan', 'procedure', 'episode'] as const

/** A memory's erasable part. */
export const memoryWords = {
  text: z.string().min(1),
  subject: z.string(),
  slot: z.string(),
  value: z.string(),
  /** The owner's words that support it. */
  quote: z.string(),
  /** Unicode-folded and stemmed text: equal keys mean the same statement. */
  canonicalKey: z.string(),
  /** The same for subject and slot: equal keys are about the same thing. Empty without a slot. */
  slotKey: z.string(),
  /** The same for subject, slot and value: equal keys mean the same statement, reworded. */
  statementKey: z.string(),
  /** Other words by which it may be asked for. */
  keywords: z.array(z.string()).optional(),
}

/** The owner's utterances that one extraction read. */
const read = { fromSeq: seqSchema, toSeq: seqSchema, utteranceSeqs: z.array(seqSchema).max(100) }

/** The life of a memory, from its source words to the turns that used it. */
export const memoryEvents = {
  /** Hands the turns since the last checkpoint to extraction, once. */
  'memory.checkpoint.created': defineEvent({
    internal: true,
    facts: {
      fromSeq: seqSchema,
      toSeq: seqSchema,
      turns: countSchema,
      reason: z.enum(['idle', 'compaction', 'conversation_ended']),
    },
  }),
  'memory.extraction.completed': defineEvent({
    internal: true,
    facts: {
      ...read,
      method: z.enum(['model', 'rules']),
      candidates: countSchema,
      accepted: countSchema,
      /** Null for `rules`. */
      usage: usageSchema.nullable(),
    },
  }),
  /** `final`: no further attempt. Otherwise it is retried at `retryAt`. */
  'memory.extraction.failed': defineEvent({
    internal: true,
    facts: {
      ...read,
      kind: wordSchema,
      attempt: countSchema,
      final: z.boolean(),
      retryAt: timeSchema.nullable(),
    },
  }),
  'memory.stored': defineEvent({
    internal: true,
    facts: {
      memoryId: idSchema,
      kind: z.enum(memoryKinds),
      /** The events whose words support it: `derivedFrom` without mere copies. */
      sourceSeqs: z.array(seqSchema),
      supersedes: idSchema.nullable(),
      linkedTo: idSchema.nullable(),
      /** Whether its slot holds one value at a time, so that a newer value replaces it. */
      singleValued: z.boolean(),
      eventTime: timeSchema.nullable(),
      /** When it was said. */
      validFrom: timeSchema,
      validUntil: timeSchema.nullable(),
      by: z.enum(['owner', 'extraction']),
      /** Kept, but not taken as a fact until a second source or the owner confirms it. */
      provisional: z.boolean().optional(),
      /** Some of the words were pasted on the page, so anybody may have written them. */
      pasted: z.boolean().optional(),
    },
    body: memoryWords,
  }),
  /** While pinned, every turn of the owner is given the memory. */
  'memory.pinned': defineEvent({ internal: true, facts: { memoryId: idSchema, pinned: z.boolean() } }),
  /** The memory was used again. A `citation` is not the owner's words, so it adds no source. */
  'memory.reinforced': defineEvent({
    internal: true,
    facts: {
      memoryId: idSchema,
      use: z.enum(['restatement', 'confirmation', 'citation']),
      sourceSeqs: z.array(seqSchema),
    },
  }),
  /** `memoryId` supersedes `mergedId` and continues with the words of both. */
  'memory.merged': defineEvent({
    internal: true,
    facts: { memoryId: idSchema, mergedId: idSchema, relation: z.enum(['same', 'refine']) },
  }),
  /** A rejected candidate. Its text is not kept; the owner's words remain in the sources. */
  'memory.discarded': defineEvent({
    internal: true,
    facts: { reason: wordSchema, sourceSeqs: z.array(seqSchema) },
  }),
  /** The two memories contradict each other. Both are shown with dates until the owner decides. */
  'memory.conflicted': defineEvent({
    internal: true,
    facts: { memoryId: idSchema, withId: idSchema },
  }),
  'memory.overridden': defineEvent({
    internal: true,
    facts: { memoryId: idSchema, byId: idSchema, validUntil: timeSchema },
  }),
  'memory.retired': defineEvent({
    internal: true,
    facts: { memoryId: idSchema, reason: z.enum(['expired', 'retracted', 'restored', 'owner', 'replaced']) },
  }),
  /** The memory is active again. */
  'memory.restored': defineEvent({ internal: true, facts: { memoryId: idSchema } }),
  /** Its words are erased, and its sources are barred from learning. */
  'memory.deleted': defineEvent({
    internal: true,
    facts: { memoryId: idSchema, sourceSeqs: z.array(seqSchema), by: z.enum(['owner', 'tool']) },
  }),
  /**
   * Words that the delegate never uses. By the service for the owner: the owner asked not to keep them. Otherwise
   * an earlier build recorded that the owner asked to forget them.
   */
  'memory.sources.barred': defineEvent({
    internal: true,
    facts: { sourceSeqs: z.array(seqSchema), by: z.enum(['owner', 'tool']) },
  }),
  /** The owner keeps them after all: they are learned and recalled again, unless they were forgotten too. */
  'memory.sources.kept': defineEvent({ internal: true, facts: { sourceSeqs: z.array(seqSchema) } }),
  'memory.recalled': defineEvent({
    internal: true,
    facts: {
      ids: z.array(idSchema),
      /** Turns that surfaced verbatim, beside the memories. */
      turnSeqs: z.array(seqSchema),
      late: z.boolean(),
      injectedTokens: countSchema,
      durationMs: z.number().min(0),
    },
  }),
  'memory.recall.suppressed': defineEvent({
    internal: true,
    facts: {
      ids: z.array(idSchema),
      turnSeqs: z.array(seqSchema),
      reason: z.enum(['duplicate', 'irrelevant', 'expired', 'budget']),
      late: z.boolean(),
    },
  }),
}
