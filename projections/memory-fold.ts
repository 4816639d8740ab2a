import type { Database } from 'better-sqlite3'
import type { EventOf, LedgerEvent } from '../ledger/event.ts'
import type { Fold } from './projection.ts'

/** Prefix of a signal's key for an outcome of a memory; the seq of that fact follows. */
export const OUTCOME_KEY = 'memory:'

/** Why words are barred that the owner asked not to keep. The owner can keep them after all. */
export const SECRECY = 'secrecy'

/** Why words are barred that the owner replaced with others. */
export const REPLACED = 'replaced'
/** Whether the owner did it on the page. The delegate is not signalled what the owner did by hand. */
const isByHand = ({ actor }: Pick<LedgerEvent, 'actor'>): boolean => actor === 'owner'

/** Folds facts about memories. A status depends on facts only, never on words. */
export function createMemoryFold(db: Database): Fold {
  const insert = db.prepare(`INSERT OR IGNORE INTO memories
    (storedSeq, memoryId, kind, status, supersedes, linkedTo, singleValued, learnedBy, byHand, eventTime, validFrom, validUntil,
     statedUntil, text, subject, slot, value, quote, canonicalKey, slotKey, statementKey, createdAt)
    VALUES (@seq, @memoryId, @kind, @status, @supersedes, @linkedTo, @singleValued, @by, @byHand, @eventTime, @validFrom, @validUntil,
     @validUntil, @text, @subject, @slot, @value, @quote, @canonicalKey, @slotKey, @statementKey, @at)`)
  const use = db.prepare('INSERT OR IGNORE INTO memory_uses VALUES (?, ?, ?, ?)')
  const source = db.prepare('INSERT OR IGNORE INTO memory_sources VALUES (?, ?)')
  const reinforce = db.prepare(
    'UPDATE memories SET reinforcements = reinforcements + 1, lastReinforcedAt = ? WHERE memoryId = ?',
  )
  const supersede = db.prepare(`UPDATE memories SET status = 'superseded', supersededBy = @byId,
    validUntil = coalesce(@validUntil, validUntil)
    WHERE memoryId = @memoryId AND memoryId <> @byId AND status IN ('active', 'contested', 'provisional')`)
  const closeValidity = db.prepare(
    "UPDATE memories SET validUntil = @validUntil WHERE memoryId = @memoryId AND supersededBy = @byId AND status = 'superseded'",
  )
  // Keeps the former status, so that undoing the erasure restores it.
  const hide = db.prepare(
    "UPDATE memories SET status = 'hidden:' || status WHERE storedSeq = ? AND status NOT LIKE 'hidden:%' AND status <> 'deleted'",
  )
  const show = db.prepare(
    "UPDATE memories SET status = substr(status, 8) WHERE storedSeq = ? AND status LIKE 'hidden:%'",
  )
  const setStatus = db.prepare("UPDATE memories SET status = ? WHERE memoryId = ? AND status <> 'deleted'")
  const contest = db.prepare(
    "UPDATE memories SET status = 'contested' WHERE memoryId = ? AND status IN ('active', 'contested')",
  )
  const restore =
    db.prepare(`UPDATE memories SET status = 'active', supersededBy = NULL, validUntil = statedUntil
    WHERE memoryId = ? AND status <> 'deleted'`)
  const pin = db.prepare('UPDATE memories SET pinnedSeq = ? WHERE memoryId = ?')
  const confirm = db.prepare(
    "UPDATE memories SET status = 'active' WHERE memoryId = ? AND status = 'provisional'",
  )
  const pair = db.prepare('INSERT OR IGNORE INTO memory_contests VALUES (?, ?)')
  const opponents = db.prepare<[string], { withId: string }>(
    'SELECT withId FROM memory_contests WHERE memoryId = ? ORDER BY withId',
  )
  const endContests = db.prepare(
    'DELETE FROM memory_contests WHERE memoryId = @memoryId OR withId = @memoryId',
  )
  const settle =
    db.prepare(`UPDATE memories SET status = 'active' WHERE memoryId = @memoryId AND status = 'contested'
    AND NOT EXISTS (SELECT 1 FROM memory_contests WHERE memoryId = @memoryId)`)
  const outcome = db.prepare('INSERT OR IGNORE INTO memory_outcomes VALUES (?, ?, ?, ?)')
  const dropOutcome = db.prepare('DELETE FROM memory_outcomes WHERE seq = ?')
  const dropOutcomes = db.prepare(
    'DELETE FROM memory_outcomes WHERE memoryId = @memoryId OR otherId = @memoryId',
  )
  const surfaced = db.prepare('UPDATE memories SET lastSurfacedAt = ? WHERE memoryId = ?')
  /** `causeId` is a deleted memory, an erasure, SECRECY, REPLACED, or '' for words that an earlier build had forgotten. */
  const bar = db.prepare('INSERT OR IGNORE INTO memory_barred_sources VALUES (?, ?)')
  const unbar = db.prepare('DELETE FROM memory_barred_sources WHERE causeId = ?')
  const unbarSecret = db.prepare(`DELETE FROM memory_barred_sources WHERE seq = ? AND causeId = '${SECRECY}'`)
  // The same words, said again: what is known and decided of them holds for both messages.
  const copySources = db.prepare(
    'INSERT OR IGNORE INTO memory_sources SELECT memoryId, @seq FROM memory_sources WHERE seq = @replacedSeq',
  )
  const copyBars = db.prepare(
    'INSERT OR IGNORE INTO memory_barred_sources SELECT @seq, causeId FROM memory_barred_sources WHERE seq = @replacedSeq',
  )
  const happened = db.prepare('INSERT OR IGNORE INTO memory_events VALUES (?)')
  const byStoredSeq = db.prepare<[number], { memoryId: string }>(
    'SELECT memoryId FROM memories WHERE storedSeq = ?',
  )
  const erase =
    db.prepare(`UPDATE memories SET status = 'deleted', text = NULL, subject = NULL, slot = NULL, value = NULL,
    quote = NULL, canonicalKey = NULL, slotKey = NULL, statementKey = NULL WHERE storedSeq = ?`)

  /** Removes a memory from all conflicts; memories without another conflict become active again. */
  function leaveContests(memoryId: string): void {
    const others = opponents.all(memoryId)
    endContests.run({ memoryId })
    for (const { withId } of others) settle.run({ memoryId: withId })
  }

  function replace(memoryId: string, byId: string, validUntil: string | null): void {
    if (supersede.run({ memoryId, byId, validUntil }).changes > 0) leaveContests(memoryId)
  }

  function remove(memoryId: string): void {
    leaveContests(memoryId)
    dropOutcomes.run({ memoryId })
  }

  function store({ seq, at, actor, facts, body }: EventOf<'memory.stored'>): void {
    const { memoryId, supersedes, sourceSeqs, singleValued, provisional, ...rest } = facts
    const byHand = isByHand({ actor })
    const words = body ?? NO_WORDS
    const status = provisional ? 'provisional' : 'active'
    const row = {
      seq,
      at,
      memoryId,
      supersedes,
      status,
      ...rest,
      byHand: byHand ? 1 : 0,
      singleValued: singleValued ? 1 : 0,
      ...words,
    }
    if (insert.run(row).changes === 0) return
    use.run(memoryId, seq, at, 'statement')
    // What the owner writes on the page is a statement by itself.
    for (const sourceSeq of byHand ? [...sourceSeqs, seq] : sourceSeqs) source.run(memoryId, sourceSeq)
    if (supersedes !== null) replace(supersedes, memoryId, null)
  }

  return {
    every({ seq, type }) {
      if (type.startsWith('memory.')) happened.run(seq)
    },
    handlers: {
      'chat.message.received': ({ seq, facts: { replaces } }) => {
        if (!replaces) return
        if (replaces.sameWords)
          for (const copy of [copySources, copyBars]) copy.run({ seq, replacedSeq: replaces.seq })
        bar.run(replaces.seq, REPLACED)
      },
      'memory.stored': store,
      'memory.reinforced': ({ seq, at, facts }) => {
        use.run(facts.memoryId, seq, at, facts.use)
        reinforce.run(at, facts.memoryId)
        if (facts.use === 'citation') return
        confirm.run(facts.memoryId)
        for (const sourceSeq of facts.sourceSeqs) source.run(facts.memoryId, sourceSeq)
      },
      'memory.pinned': ({ seq, facts }) => {
        pin.run(facts.pinned ? seq : null, facts.memoryId)
      },
      'memory.merged': ({ seq, actor, facts }) => {
        replace(facts.mergedId, facts.memoryId, null)
        if (!isByHand({ actor })) outcome.run(seq, 'consolidated', facts.memoryId, facts.mergedId)
      },
      'memory.conflicted': ({ seq, facts }) => {
        const { memoryId, withId } = facts
        if (memoryId === withId) return
        contest.run(memoryId)
        contest.run(withId)
        pair.run(memoryId, withId)
        pair.run(withId, memoryId)
        outcome.run(seq, 'conflicted', memoryId, withId)
      },
      'memory.overridden': ({ seq, actor, facts }) => {
        replace(facts.memoryId, facts.byId, facts.validUntil)
        closeValidity.run(facts)
        if (!isByHand({ actor })) outcome.run(seq, 'overridden', facts.byId, facts.memoryId)
      },
      'memory.retired': ({ facts }) => {
        setStatus.run('retired', facts.memoryId)
        leaveContests(facts.memoryId)
      },
      'memory.restored': ({ facts }) => {
        restore.run(facts.memoryId)
        leaveContests(facts.memoryId)
      },
      'memory.deleted': ({ facts }) => {
        setStatus.run('deleted', facts.memoryId)
        remove(facts.memoryId)
        for (const sourceSeq of facts.sourceSeqs) bar.run(sourceSeq, facts.memoryId)
      },
      'memory.sources.barred': ({ actor, facts }) => {
        const causeId = actor === 'service' && facts.by === 'owner' ? SECRECY : ''
        for (const sourceSeq of facts.sourceSeqs) bar.run(sourceSeq, causeId)
      },
      'memory.sources.kept': ({ facts }) => {
        for (const sourceSeq of facts.sourceSeqs) unbarSecret.run(sourceSeq)
      },
      'memory.recalled': ({ at, facts }) => {
        for (const id of facts.ids) surfaced.run(at, id)
      },
      'signal.raised': ({ facts: { dedupKey } }) => {
        if (dedupKey.startsWith(OUTCOME_KEY)) dropOutcome.run(dedupKey.slice(OUTCOME_KEY.length))
      },
      'erasure.requested': ({ facts }) => {
        for (const seq of facts.seqs) hide.run(seq)
        for (const seq of facts.barredSeqs ?? []) bar.run(seq, facts.erasureId)
      },
      'erasure.undone': ({ facts }) => {
        for (const seq of facts.seqs) show.run(seq)
        unbar.run(facts.erasureId)
      },
      erased: ({ facts }) => {
        for (const seq of facts.seqs) {
          const memory = byStoredSeq.get(seq)
          if (!memory) continue
          erase.run(seq)
          remove(memory.memoryId)
        }
      },
    },
  }
}

const NO_WORDS = {
  text: null,
  subject: null,
  slot: null,
  value: null,
  quote: null,
  canonicalKey: null,
  slotKey: null,
  statementKey: null,
}
