import * as z from 'zod'
import { countSchema, defineEvent, idSchema, seqSchema, timeSchema, wordSchema } from '../define-event.ts'
import { memoryKinds, memoryWords } from './memory.ts'
import { usageSchema } from './turn.ts'

/** The assistants whose exports can be imported. */
export const importServices = ['chatgpt', 'claude'] as const

/** Limits of one fact. A longer conversation takes several. */
export const MOST_IMPORTED_MESSAGES = 50
const MOST_CANDIDATES = 50

/**
 * Conversations with other assistants, and memories that the owner chooses from them. Not part of the timeline: only what
 * the owner asks for on the page reads them, and their words are those of others.
 */
export const importEvents = {
  /** The file is complete and on disk. */
  'import.started': defineEvent({
    internal: true,
    facts: { importId: idSchema, bytes: countSchema },
    body: { name: z.string() },
  }),
  /** Messages of one conversation that were not there yet, in order. */
  'import.conversation.added': defineEvent({
    internal: true,
    facts: {
      importId: idSchema,
      service: z.enum(importServices),
      /** As the service names them. */
      conversationId: idSchema,
      messageIds: z.array(idSchema).min(1).max(MOST_IMPORTED_MESSAGES),
      firstAt: timeSchema,
      lastAt: timeSchema,
      /** How many of them the owner wrote. */
      ownerMessages: countSchema,
      /** Of all texts, in UTF-8. */
      bytes: countSchema,
    },
    body: {
      title: z.string(),
      messages: z.array(
        z.strictObject({ speaker: z.enum(['owner', 'assistant']), at: timeSchema, text: z.string() }),
      ),
    },
  }),
  'import.completed': defineEvent({
    internal: true,
    facts: {
      importId: idSchema,
      /** Messages that an earlier import has. */
      known: countSchema,
      /** Entries of the file that are no conversation. */
      skipped: countSchema,
    },
  }),
  'import.failed': defineEvent({ internal: true, facts: { importId: idSchema, reason: wordSchema } }),
  'import.cancelled': defineEvent({ internal: true, facts: { importId: idSchema } }),
  /** The owner wants memories from a whole import, or from some conversations. */
  'import.reading.requested': defineEvent({
    internal: true,
    facts: {
      readingId: idSchema,
      /** The facts to read: those with messages of the owner. */
      partSeqs: z.array(seqSchema).max(500),
      /** A larger reading is split into several facts in one batch. */
      part: countSchema,
      parts: countSchema,
    },
  }),
  /** One fact was read. Candidates are no memories until the owner keeps them. */
  'import.reading.progressed': defineEvent({
    internal: true,
    facts: {
      readingId: idSchema,
      partSeq: seqSchema,
      method: z.enum(['model', 'rules']),
      candidates: z
        .array(
          z.strictObject({
            kind: z.enum(memoryKinds),
            singleValued: z.boolean(),
            eventTime: timeSchema.nullable(),
            validUntil: timeSchema.nullable(),
            saidAt: timeSchema,
          }),
        )
        .max(MOST_CANDIDATES),
      /** Null for `rules`. */
      usage: usageSchema.nullable(),
      /** Why it could not be read; then there are no candidates. */
      failure: wordSchema.optional(),
    },
    body: {
      /** In the order of `candidates`. */
      words: z.array(z.strictObject(memoryWords)),
    },
  }),
  'import.reading.ended': defineEvent({
    internal: true,
    facts: { readingId: idSchema, reason: z.enum(['completed', 'cancelled']) },
  }),
  /** The owner keeps candidates as memories, or drops them. */
  'import.candidates.decided': defineEvent({
    internal: true,
    facts: {
      /** The fact with the candidate, and its place there. */
      candidates: z
        .array(z.strictObject({ seq: seqSchema, index: countSchema }))
        .min(1)
        .max(500),
      kept: z.boolean(),
    },
  }),
}
