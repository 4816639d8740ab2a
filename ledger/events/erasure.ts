import * as z from 'zod'
import { countSchema, defineEvent, idSchema, seqSchema, timeSchema, wordSchema } from '../define-event.ts'

/** As many seqs as one fact may name; the rest of an erasure is in further facts of the same batch. */
const seqs = z.array(seqSchema).max(500)
const kinds = z.array(z.object({ kind: wordSchema, count: countSchema })).max(40)

/**
 * Erasing that can be undone for a while: what is to go is hidden with the first fact, and loses its words (`erased`)
 * once its time has come. Nothing here is anybody's words.
 */
export const erasureEvents = {
  'erasure.requested': defineEvent({
    facts: {
      erasureId: idSchema,
      /** What the owner named. */
      target: z.enum(['memory', 'note', 'adaptation', 'message', 'span', 'period', 'words']),
      /** Its id, or its seq; null for a period and for words. */
      targetId: idSchema.nullable(),
      from: timeSchema.nullable(),
      to: timeSchema.nullable(),
      /** All that is hidden: what was named, and what derives from it. */
      seqs,
      /** Of these the ones that were named; a fact of an earlier build has all of them. */
      namedSeqs: seqs.optional(),
      /** What stays on the timeline, but is barred from recall, the context and learning. In the first part. */
      barredSeqs: seqs.optional(),
      /** Memories that are deleted with it. In the first part. */
      memoryIds: z.array(idSchema).max(500).optional(),
      part: countSchema,
      parts: countSchema,
      /** What they are, in the first part. */
      kinds,
      eraseAt: timeSchema,
    },
  }),
  /** How a reply reads without the words that are erased of it; shown in its place while it is hidden or erased. */
  'reply.redacted': defineEvent({
    internal: true,
    facts: { replySeq: seqSchema, erasureId: idSchema },
    body: { text: z.string().min(1) },
  }),
  'erasure.undone': defineEvent({
    facts: { erasureId: idSchema, seqs, part: countSchema, parts: countSchema },
  }),
  /** From here it cannot be undone. */
  'erasure.started': defineEvent({ internal: true, facts: { erasureId: idSchema } }),
  /** The receipt: how many events lost their words, and what they were. */
  'erasure.completed': defineEvent({ facts: { erasureId: idSchema, erased: countSchema, kinds } }),
}
