import type { NewEvent } from '../../../ledger/event.ts'
import { isKept, type MemoryQueries, type MemoryRow } from '../../../projections/memory-queries.ts'
import type { Accepted } from './checks.ts'
import { consolidate, type Decision, isReplaced, type Known } from './consolidate.ts'
import { BY_SERVICE, type MemoryPlace } from './facts.ts'

/** Newer than everything stored. */
const UNSTORED_SEQ = Number.MAX_SAFE_INTEGER

export type Learning = {
  /** The id of the memory, if it is a new one. */
  readonly newId: string
  readonly place: MemoryPlace
  readonly by: 'owner' | 'extraction'
}

export type Learned = { readonly facts: readonly NewEvent[]; readonly memoryId: string }

/**
 * Turns accepted candidates into facts. Each call sees the results of the previous ones. Append the facts before
 * creating another learning: it reads the current views.
 */
export function createLearning(queries: MemoryQueries) {
  /** What was stored, reinforced or (null) replaced here, and the views do not have yet. */
  const changed = new Map<string, Known | null>()
  const isLeft = (id: string) => changed.get(id) !== null

  const toKnown = (row: MemoryRow): Known => ({
    ...row,
    sourceSeqs: queries.sources(row.memoryId),
    contestedWith: queries.contestedWith(row.memoryId),
  })

  /** Current memories that the statement may concern, oldest first. */
  function knownTo({ canonicalKey, statementKey, slotKey, saidSeq, relations, ends }: Accepted): Known[] {
    const named = [ends, ...relations.map(({ memoryId }) => memoryId)].filter((id) => id !== null)
    const rows = [
      ...queries.byCanonicalKey(canonicalKey),
      ...queries.byStatementKey(statementKey),
      ...queries.bySlotKey(slotKey),
      ...queries.bySource(saidSeq),
      ...named.flatMap((id) => queries.byId(id) ?? []),
    ]
    const kept = rows.filter(({ status }) => isKept(status))
    const known = new Map([...kept.map((row) => [row.memoryId, toKnown(row)] as const), ...changed])
    return [...known.values()]
      .filter((memory) => memory !== null)
      .map((memory) => ({ ...memory, contestedWith: memory.contestedWith.filter(isLeft) }))
      .sort((a, b) => a.storedSeq - b.storedSeq)
  }

  function decide(accepted: Accepted, known: readonly Known[]): Decision {
    const { saidSeq: seq, canonicalKey, statementKey } = accepted
    const replaced = queries
      .replacedByHand({ seq, canonicalKey, statementKey })
      .find((row) => isReplaced(accepted, toKnown(row), row.successorSeq))
    return replaced ? { outcome: 'outdated', memoryId: replaced.successorId } : consolidate(accepted, known)
  }

  return {
    learn(accepted: Accepted, { newId, place, by }: Learning): Learned {
      const known = knownTo(accepted)
      const decision = decide(accepted, known)
      const envelope = { ...BY_SERVICE, ...place }
      const sourceSeqs = [...accepted.sourceSeqs]

      if (decision.outcome === 'repeated' || decision.outcome === 'outdated') {
        const reason = decision.outcome === 'repeated' ? 'already_known' : 'outdated'
        const fact: NewEvent = { type: 'memory.discarded', ...envelope, facts: { reason, sourceSeqs } }
        return { memoryId: decision.memoryId, facts: [fact] }
      }

      const memoryId = decision.outcome === 'stored' ? newId : decision.memoryId
      const ended = [
        ...decision.overrides.map(
          (id): NewEvent => ({
            type: 'memory.overridden',
            ...envelope,
            facts: { memoryId: id, byId: memoryId, validUntil: accepted.saidAt },
          }),
        ),
        ...decision.contests.map(
          (withId): NewEvent => ({ type: 'memory.conflicted', ...envelope, facts: { memoryId, withId } }),
        ),
      ]
      for (const id of decision.overrides) changed.set(id, null)

      if (decision.outcome === 'reinforced') {
        const old = known.find((memory) => memory.memoryId === memoryId)
        if (old) changed.set(memoryId, { ...old, sourceSeqs: [...old.sourceSeqs, ...sourceSeqs] })
        const use = accepted.agreed ? 'confirmation' : 'restatement'
        const facts = { memoryId, use, sourceSeqs } as const
        return {
          memoryId,
          facts: [{ type: 'memory.reinforced', ...envelope, derivedFrom: sourceSeqs, facts }, ...ended],
        }
      }

      const { refines, overrides, linkedTo } = decision
      const refined = known.find((memory) => memory.memoryId === refines)
      if (refined) changed.set(refined.memoryId, null)
      // A refinement may repeat words of what it refines, so erasing those sources must erase it too.
      const inherited = refined
        ? [...refined.sourceSeqs, ...(refined.storedSeq === UNSTORED_SEQ ? [] : [refined.storedSeq])]
        : []
      changed.set(memoryId, {
        ...accepted,
        memoryId,
        storedSeq: UNSTORED_SEQ,
        status: accepted.provisional ? 'provisional' : 'active',
        singleValued: Number(accepted.singleValued),
        byHand: 0,
        sourceSeqs,
        contestedWith: [],
      })
      const supersedes = refines ?? overrides[0] ?? null
      const facts: NewEvent[] = [
        storedFact(accepted, envelope, { memoryId, supersedes, linkedTo, by, inherited }),
      ]
      if (refines !== null)
        facts.push({
          type: 'memory.merged',
          ...envelope,
          facts: { memoryId, mergedId: refines, relation: 'refine' },
        })
      return { memoryId, facts: [...facts, ...ended] }
    },
  }
}

/** The fact of a new memory. `inherited`: the facts whose words it may repeat, besides its sources. */
export function storedFact(
  accepted: Accepted,
  envelope: MemoryPlace & Pick<NewEvent, 'actor'>,
  about: {
    readonly memoryId: string
    readonly supersedes: string | null
    readonly linkedTo: string | null
    readonly by: 'owner' | 'extraction'
    readonly inherited: readonly number[]
  },
): NewEvent & { readonly type: 'memory.stored' } {
  const { kind, subject, slot, value, text, quote, keywords, singleValued } = accepted
  const { canonicalKey, slotKey, statementKey } = accepted
  const { inherited, ...facts } = about
  return {
    type: 'memory.stored',
    ...envelope,
    derivedFrom: [...new Set([...accepted.sourceSeqs, ...accepted.repeatedSeqs, ...inherited])].sort(
      (a, b) => a - b,
    ),
    facts: {
      ...facts,
      kind,
      sourceSeqs: [...accepted.sourceSeqs],
      singleValued,
      eventTime: accepted.eventTime,
      validFrom: accepted.saidAt,
      validUntil: accepted.validUntil,
      ...(accepted.provisional ? { provisional: true } : {}),
      ...(accepted.pasted ? { pasted: true } : {}),
    },
    body: { text, subject, slot, value, quote, canonicalKey, slotKey, statementKey, keywords },
  }
}
