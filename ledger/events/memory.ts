import * as z from 'zod'
import { countSchema, defineEvent, idSchema, seqSchema, timeSchema, wordSchema } from '../define-event.ts'
import { usageSchema } from './turn.ts'

export const memoryKinds = ['identity', 'preference', 'relation', 'plan', 'procedure', 'episode'] as const

/** What can be erased of a memory: its words. */
const words = {
  text: z.string().min(1),
  subject: z.string(),
  slot: z.string(),
  value: z.string(),
  /** The owner's own words that it rests on. */
  quote: z.string(),
  /** Unicode-folded, stemmed form: equal keys mean the same statement. */
  canonicalKey: z.string(),
  /** The same of subject and slot alone: memories of one key speak of one thing. Empty where there is no slot. */
  slotKey: z.string(),
  /** The same of subject, slot and value: equal keys mean the same statement in other words. Empty likewise. */
  statementKey: z.string(),
}

/** The owner's utterances that one extraction read. */
const read = { fromSeq: seqSchema, toSeq: seqSchema, utteranceSeqs: z.array(seqSchema).max(100) }

/** Every memory's life, from the words that it came from to the turns that it shaped. */
export const memoryEvents = {
  /** Idle, or compaction: the turns in between are handed to extraction once. */
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
      /** What it cost; null where rules did it. */
      usage: usageSchema.nullable(),
    },
  }),
  /** `final`: the model is not asked about these again. Otherwise they are tried again at `retryAt`. */
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
      /** The events whose words it rests on; the same as `derivedFrom`, less what merely copies it. */
      sourceSeqs: z.array(seqSchema),
      supersedes: idSchema.nullable(),
      linkedTo: idSchema.nullable(),
      /** Whether its slot holds one value at a time: a newer one takes its place. */
      singleValued: z.boolean(),
      eventTime: timeSchema.nullable(),
      /** When it was said: since then it is held to be true. */
      validFrom: timeSchema,
      validUntil: timeSchema.nullable(),
      by: z.enum(['owner', 'extraction']),
    },
    body: words,
  }),
  /** Used again. Only what the owner said, in `restatement` and `confirmation`, is a source of the memory. */
  'memory.reinforced': defineEvent({
    internal: true,
    facts: {
      memoryId: idSchema,
      use: z.enum(['restatement', 'confirmation', 'citation']),
      sourceSeqs: z.array(seqSchema),
    },
  }),
  /** `memoryId` lives on with the words of both; `mergedId` is superseded by it. */
  'memory.merged': defineEvent({
    internal: true,
    facts: { memoryId: idSchema, mergedId: idSchema, relation: z.enum(['same', 'refine']) },
  }),
  /** A candidate that was not kept. Its words are nobody's: the owner's own are in the sources. */
  'memory.discarded': defineEvent({
    internal: true,
    facts: { reason: wordSchema, sourceSeqs: z.array(seqSchema) },
  }),
  /** Two memories that cannot both be true; both are shown, with dates, until the owner says which. */
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
    facts: { memoryId: idSchema, reason: z.enum(['expired', 'retracted', 'restored', 'owner']) },
  }),
  /** What had become of it is undone: it is active again. */
  'memory.restored': defineEvent({ internal: true, facts: { memoryId: idSchema } }),
  /** The owner wants it forgotten: its words are erased, and its source turns barred from teaching it again. */
  'memory.deleted': defineEvent({
    internal: true,
    facts: { memoryId: idSchema, sourceSeqs: z.array(seqSchema), by: z.enum(['owner', 'tool']) },
  }),
  /** Words that the owner wants forgotten before anything was learned from them. */
  'memory.sources.barred': defineEvent({
    internal: true,
    facts: { sourceSeqs: z.array(seqSchema), by: z.enum(['owner', 'tool']) },
  }),
  'memory.recalled': defineEvent({
    internal: true,
    facts: {
      ids: z.array(idSchema),
      /** Turns that surfaced as they were said, beside the memories. */
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
