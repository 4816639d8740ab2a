import * as z from 'zod'
import { countSchema, defineEvent, idSchema, seqSchema, timeSchema, wordSchema } from '../define-event.ts'

/** A larger erasure is split into several facts in one batch. */
const seqs = z.array(seqSchema).max(500)
const kinds = z.array(z.object({ kind: wordSchema, count: countSchema })).max(40)

/** An erasure first hides events, and can be undone; at `eraseAt` their bodies are erased. */
export const erasureEvents = {
  'erasure.requested': defineEvent({
    facts: {
      erasureId: idSchema,
      /** What the owner named. */
      target: z.enum([
        'memory',
        'note',
        'adaptation',
        'message',
        'span',
        'period',
        'words',
        'import',
        'imported',
      ]),
      /** Id or seq; null for a period and for words. */
      targetId: idSchema.nullable(),
      from: timeSchema.nullable(),
      to: timeSchema.nullable(),
      /** All hidden events: the named ones and those derived from them. */
      seqs,
      /** The named ones among `seqs`. Earlier builds omit it; then all of them count as named. */
      namedSeqs: seqs.optional(),
      /** Stay on the timeline but are barred from recall, context and learning. First part only. */
      barredSeqs: seqs.optional(),
      /** Those among `barredSeqs` that the owner chose to forget, with all their words. First part only. */
      messageSeqs: seqs.optional(),
      /** Memories deleted by this erasure. First part only. */
      memoryIds: z.array(idSchema).max(500).optional(),
      part: countSchema,
      parts: countSchema,
      /** First part only. */
      kinds,
      eraseAt: timeSchema,
    },
  }),
  /** A redacted copy, shown in the reply's place while that is hidden or erased. */
  'reply.redacted': defineEvent({
    internal: true,
    facts: { replySeq: seqSchema, erasureId: idSchema },
    body: { text: z.string().min(1) },
  }),
  'erasure.undone': defineEvent({
    facts: { erasureId: idSchema, seqs, part: countSchema, parts: countSchema },
  }),
  /** From here on the erasure cannot be undone. */
  'erasure.started': defineEvent({ internal: true, facts: { erasureId: idSchema } }),
  /** The receipt: how many events lost their bodies, and of what kinds. */
  'erasure.completed': defineEvent({
    facts: {
      erasureId: idSchema,
      erased: countSchema,
      kinds,
      /**
       * What was known of PostgreSQL and of other machines right after. Absent if the ledger is kept on one machine.
       * `nodes` have not reported to hold no more of the words.
       */
      postgres: z.object({ erased: z.boolean(), nodes: z.array(idSchema) }).optional(),
      /** Devices whose offline copy is older than the request, and until when it can be read there. */
      devices: z
        .array(z.object({ device: idSchema, until: timeSchema }))
        .max(50)
        .optional(),
      /**
       * How many backups still hold the words, and how many of them are missing from the backup directory, where the
       * service cannot remove them. The rule removes the last of the others at `until`; null if that is never. Absent
       * if no backup holds the words.
       */
      backups: z
        .object({ count: countSchema, until: timeSchema.nullable(), missing: countSchema.optional() })
        .optional(),
    },
  }),
}
