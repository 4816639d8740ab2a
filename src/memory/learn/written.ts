import type { NewEvent } from '../../../ledger/event.ts'
import type { MemoryQueries, MemoryRow } from '../../../projections/memory-queries.ts'
import { kindNamed, type MemoryKind } from './candidate.ts'
import { type Accepted, acceptWritten } from './checks.ts'
import { BY_HAND } from './facts.ts'
import { storedFact } from './learning.ts'
import { plain } from './patterns.ts'
import { withSlot } from './request.ts'

/** What the owner writes on the page of memories. */
export type Written = {
  readonly text: string
  /** Null for the kind that the words or the replaced memories have. */
  readonly kind: MemoryKind | null
  /** Some of the words may be those of others. */
  readonly isPasted: boolean
  readonly at: string
  readonly timezone: string
}

/** A memory to be replaced, with the words by which recall finds it. */
export type Replaced = { readonly row: MemoryRow; readonly keywords: readonly string[] }

const MAX_KEYWORDS = 12
/** Newer than everything said. */
const NOW_SEQ = Number.MAX_SAFE_INTEGER

/** Reads what the owner writes, which is its own evidence. A slot is known only if a pattern recognises it. */
function readWritten({ text, kind, isPasted, at, timezone }: Written): Accepted {
  const place = { channel: null, conversationId: null, spanId: null, turnId: null }
  const utterance = { ...place, seq: NOW_SEQ, speaker: 'owner', text, at, isKept: true } as const
  const quotable = { text, utterance, seqs: [], agreed: false }
  const context = { quotables: [quotable], shown: [utterance], offered: [], timezone }
  const read = withSlot(acceptWritten(plain(text), quotable, timezone), text, quotable, context)
  return { ...read, kind: kind ?? read.kind, pasted: isPasted }
}

/** The memory that says it from now on: a new one, or one that already did. */
export type Wrote = { readonly facts: readonly NewEvent[]; readonly memoryId: string }

/**
 * The facts of a new memory, or of the use of one that says the same. It replaces nothing: the owner sees the others, and
 * edits or merges them.
 */
export function addingFacts(
  written: Written,
  memoryId: string,
  queries: Pick<MemoryQueries, 'byCanonicalKey' | 'byStatementKey'>,
): Wrote {
  const accepted = readWritten(written)
  const [same] = [
    ...queries.byCanonicalKey(accepted.canonicalKey),
    ...queries.byStatementKey(accepted.statementKey),
  ]
  if (!same) {
    const about = { memoryId, supersedes: null, linkedTo: null, by: 'owner', inherited: [] } as const
    return { facts: [storedFact(accepted, BY_HAND, about)], memoryId }
  }
  const again: NewEvent = {
    type: 'memory.reinforced',
    ...BY_HAND,
    facts: { memoryId: same.memoryId, use: 'restatement', sourceSeqs: [] },
  }
  return { facts: [again], memoryId: same.memoryId }
}

/**
 * The facts of one memory in place of others: of one that the owner edits, or of several that the owner merges. It is
 * about the same as those, unless the words say otherwise.
 */
export function replacingFacts(
  written: Written,
  replaced: readonly [Replaced, ...Replaced[]],
  memoryId: string,
): NewEvent[] {
  const [{ row: first }, ...others] = replaced
  const rows = [first, ...others.map(({ row }) => row)] as const
  const keywords = [...new Set(replaced.flatMap((each) => each.keywords))].slice(0, MAX_KEYWORDS)
  const accepted = { ...restated(written, rows), keywords }
  const stored = storedFact(accepted, BY_HAND, {
    memoryId,
    supersedes: first.memoryId,
    linkedTo: null,
    by: 'owner',
    inherited: rows.map(({ storedSeq }) => storedSeq),
  })
  const isEdit = rows.length === 1
  const endings = rows.map((row): NewEvent => {
    const { memoryId: replacedId } = row
    return isEdit
      ? {
          type: 'memory.overridden',
          ...BY_HAND,
          facts: { memoryId: replacedId, byId: memoryId, validUntil: written.at },
        }
      : { type: 'memory.merged', ...BY_HAND, facts: { memoryId, mergedId: replacedId, relation: 'same' } }
  })
  return [stored, ...endings]
}

/** What the new words are about: what the memory with the same words is, or what all are that they replace. */
function restated(written: Written, rows: readonly [MemoryRow, ...MemoryRow[]]): Accepted {
  const read = readWritten(written)
  const [first] = rows
  const same = rows.find((row) => row.canonicalKey === read.canonicalKey)
  const kind = written.kind ?? kindNamed((same ?? first).kind)
  if (same) {
    const { value, statementKey, eventTime, validUntil } = same
    const statement = { value: value ?? '', statementKey: statementKey ?? '', eventTime, validUntil }
    return { ...read, kind, ...aboutOf(same), ...statement }
  }
  if (read.slot !== '') return read
  const isOneSlot = rows.every(({ slotKey }) => slotKey === first.slotKey)
  return { ...read, kind, ...(isOneSlot ? aboutOf(first) : {}) }
}

function aboutOf({ subject, slot, slotKey, singleValued }: MemoryRow) {
  return {
    subject: subject ?? '',
    slot: slot ?? '',
    slotKey: slotKey ?? '',
    singleValued: singleValued === 1,
  }
}
