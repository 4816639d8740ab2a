import type { Database } from 'better-sqlite3'
import * as z from 'zod'
import type { EventOf } from '../ledger/event.ts'
import { defineProjection } from './projection.ts'

export type ErasureTargetKind = EventOf<'erasure.requested'>['facts']['target']

export type ErasureRow = {
  erasureId: string
  requestedSeq: number
  target: ErasureTargetKind
  targetId: string | null
  fromAt: string | null
  toAt: string | null
  requestedAt: string
  eraseAt: string
  status: 'pending' | 'undone' | 'erasing' | 'erased'
  endedAt: string | null
  /** How many events it erases. */
  events: number
  /** JSON; read it with `kindsOf`. */
  kinds: string
}

/** Erasures, and the events that each one hides until they are erased. */
export const erasuresProjection = defineProjection({
  name: 'erasures',
  version: 2,
  tables: ['erasures', 'erasure_hidden', 'erasure_redactions'],
  schema: `
    CREATE TABLE erasures (
      erasureId TEXT PRIMARY KEY, requestedSeq INTEGER NOT NULL, target TEXT NOT NULL, targetId TEXT, fromAt TEXT, toAt TEXT,
      requestedAt TEXT NOT NULL, eraseAt TEXT NOT NULL, status TEXT NOT NULL, endedAt TEXT, events INTEGER NOT NULL,
      kinds TEXT NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX erasures_unfinished ON erasures (eraseAt) WHERE status IN ('pending', 'erasing');
    CREATE INDEX erasures_by_request ON erasures (requestedSeq);
    CREATE TABLE erasure_hidden (seq INTEGER NOT NULL, erasureId TEXT NOT NULL, PRIMARY KEY (seq, erasureId))
    WITHOUT ROWID, STRICT;
    CREATE INDEX erasure_hidden_by_erasure ON erasure_hidden (erasureId, seq);
    CREATE TABLE erasure_redactions (replySeq INTEGER NOT NULL, seq INTEGER NOT NULL,
      PRIMARY KEY (replySeq, seq)) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const request =
      db.prepare(`INSERT OR IGNORE INTO erasures VALUES (@erasureId, @seq, @target, @targetId, @from, @to,
      @at, @eraseAt, 'pending', NULL, 0, @kinds)`)
    const count = db.prepare('UPDATE erasures SET events = events + ? WHERE erasureId = ?')
    const hide = db.prepare('INSERT OR IGNORE INTO erasure_hidden VALUES (?, ?)')
    const show = db.prepare('DELETE FROM erasure_hidden WHERE erasureId = ?')
    const start = db.prepare(
      "UPDATE erasures SET status = 'erasing' WHERE erasureId = ? AND status = 'pending'",
    )
    const end = db.prepare('UPDATE erasures SET status = ?, endedAt = ? WHERE erasureId = ?')
    const redact = db.prepare('INSERT OR IGNORE INTO erasure_redactions VALUES (?, ?)')
    const setReceipt = db.prepare('UPDATE erasures SET events = ?, kinds = ? WHERE erasureId = ?')
    return {
      handlers: {
        'erasure.requested': ({ seq, at, facts }) => {
          const {
            seqs,
            part: _,
            parts,
            kinds,
            namedSeqs,
            barredSeqs,
            messageSeqs,
            memoryIds,
            ...rest
          } = facts
          request.run({ seq, at, ...rest, kinds: JSON.stringify(kinds) })
          count.run(seqs.length, facts.erasureId)
          for (const hidden of seqs) hide.run(hidden, facts.erasureId)
        },
        'reply.redacted': ({ seq, facts }) => void redact.run(facts.replySeq, seq),
        'erasure.undone': ({ at, facts }) => {
          end.run('undone', at, facts.erasureId)
          show.run(facts.erasureId)
        },
        'erasure.started': ({ facts }) => void start.run(facts.erasureId),
        'erasure.completed': ({ at, facts }) => {
          end.run('erased', at, facts.erasureId)
          setReceipt.run(facts.erased, JSON.stringify(facts.kinds), facts.erasureId)
          show.run(facts.erasureId)
        },
      },
    }
  },
})

const kindsSchema = z.array(z.object({ kind: z.string(), count: z.number() }))

export function kindsOf({ kinds }: ErasureRow): z.output<typeof kindsSchema> {
  return kindsSchema.parse(JSON.parse(kinds))
}

export function createErasureQueries(views: Database) {
  const byId = views.prepare<[string], ErasureRow>('SELECT * FROM erasures WHERE erasureId = ?')
  const page = views.prepare<[number, number], ErasureRow>(
    'SELECT * FROM erasures WHERE requestedSeq < ? ORDER BY requestedSeq DESC LIMIT ?',
  )
  const unfinished = views.prepare<[], ErasureRow>(
    "SELECT * FROM erasures WHERE status IN ('pending', 'erasing') ORDER BY eraseAt",
  )
  const hidden = views.prepare<[string], { seq: number }>(
    'SELECT seq FROM erasure_hidden WHERE erasureId = ? ORDER BY seq',
  )
  const copies = views
    .prepare<[number], number>('SELECT seq FROM erasure_redactions WHERE replySeq = ? ORDER BY seq')
    .pluck()
  const hiddenAlone = views
    .prepare<{ erasureId: string }, number>(
      `SELECT seq FROM erasure_hidden WHERE erasureId = @erasureId
       EXCEPT SELECT seq FROM erasure_hidden WHERE erasureId <> @erasureId ORDER BY seq`,
    )
    .pluck()
  return {
    byId: (erasureId: string) => byId.get(erasureId),
    /** Newest first, requested before `beforeSeq`. */
    page: (beforeSeq: number, limit: number) => page.all(beforeSeq, limit),
    /** Not erased yet, by the time of their erasure. */
    unfinished: () => unfinished.all(),
    /** All redacted copies of a reply; the last one is shown. */
    copiesOf: (replySeq: number) => copies.all(replySeq),
    /** Events that no other erasure hides. */
    hiddenByThisAlone: (erasureId: string) => hiddenAlone.all({ erasureId }),
    hiddenSeqs: (erasureId: string) => hidden.all(erasureId).map(({ seq }) => seq),
  }
}

/** Finds the redacted copy that replaces a reply; null if there is none. */
export function createRedactionQuery(views: Database): (replySeq: number) => number | null {
  const redaction = views
    .prepare<[number], number | null>('SELECT max(seq) FROM erasure_redactions WHERE replySeq = ?')
    .pluck()
  return (replySeq) => redaction.get(replySeq) ?? null
}

/** Returns null if no event is hidden, the usual case, else a check for single events. */
export function createHiddenQuery(views: Database): () => ((seq: number) => boolean) | null {
  const any = views.prepare('SELECT 1 FROM erasure_hidden LIMIT 1').pluck()
  const hidden = views.prepare<[number]>('SELECT 1 FROM erasure_hidden WHERE seq = ? LIMIT 1').pluck()
  const isHidden = (seq: number) => hidden.get(seq) !== undefined
  return () => (any.get() === undefined ? null : isHidden)
}
