import type { NewEvent } from '../../../ledger/event.ts'
import { isKept, type MemoryQueries, type MemoryRow } from '../../../projections/memory-queries.ts'
import type { Accepted } from './checks.ts'
import { consolidate, type Decision, isReplaced, type Known } from './consolidate.ts'
import { BY_SERVICE, type MemoryPlace } from './facts.ts'

export type Learned = { readonly facts: readonly NewEvent[]; readonly memoryId: string }

/**
 * Turns accepted candidates into facts. Each call sees the results of the previous ones. Append the facts before
 * creating another learning: it reads the current views.
 */
export function createLearning(options: { readonly queries: MemoryQueries; readonly newId: () => string }) {
  const { queries, newId } = options
  /** Memories stored and replaced here, which the views do not have yet. */
  const fresh = new Map<string, Known>()
  const replaced = new Set<string>()
  const sources = new Map<string, readonly number[]>()

  function toKnown(row: MemoryRow): Known {
    const sourceSeqs = sources.get(row.memoryId) ?? queries.sources(row.memoryId)
    return {
      ...row,
      status: isKept(row.status) ? row.status : 'active',
      singleValued: row.singleValued === 1,
      byHand: row.byHand === 1,
      sourceSeqs,
      contestedWith: queries.contestedWith(row.memoryId).filter((id) => !replaced.has(id)),
    }
  }

  /** Current memories that the statement may concern, oldest first. */
  function knownTo(accepted: Accepted): Known[] {
    const rows = [
      ...queries.byCanonicalKey(accepted.canonicalKey),
      ...queries.byStatementKey(accepted.statementKey),
      ...queries.bySlotKey(accepted.slotKey),
      ...queries.bySource(accepted.saidSeq),
      ...accepted.relations.flatMap(({ memoryId }) => queries.byId(memoryId) ?? []),
      ...(accepted.ends === null ? [] : [queries.byId(accepted.ends) ?? []].flat()),
    ].filter(({ status }) => isKept(status))
    const known = new Map(rows.map((row) => [row.memoryId, row] as const))
    const stored = [...known.values()].sort((a, b) => a.storedSeq - b.storedSeq).map(toKnown)
    return [...stored, ...fresh.values()].filter(({ memoryId }) => !replaced.has(memoryId))
  }

  function decide(accepted: Accepted, known: readonly Known[]): Decision {
    const { saidSeq: seq, canonicalKey, statementKey } = accepted
    const replaced = queries
      .replacedByHand({ seq, canonicalKey, statementKey })
      .find((row) => isReplaced(accepted, toKnown(row), row.successorSeq))
    return replaced ? { outcome: 'outdated', memoryId: replaced.successorId } : consolidate(accepted, known)
  }

  function replace(ids: readonly string[]): void {
    for (const id of ids) replaced.add(id)
  }

  return {
    learn(accepted: Accepted, place: MemoryPlace, by: 'owner' | 'extraction'): Learned {
      const known = knownTo(accepted)
      const decision = decide(accepted, known)
      const envelope = { ...BY_SERVICE, ...place }
      const sourceSeqs = [...accepted.sourceSeqs]

      if (decision.outcome === 'repeated' || decision.outcome === 'outdated') {
        const reason = decision.outcome === 'repeated' ? 'already_known' : 'outdated'
        const fact: NewEvent = { type: 'memory.discarded', ...envelope, facts: { reason, sourceSeqs } }
        return { memoryId: decision.memoryId, facts: [fact] }
      }

      if (decision.outcome === 'reinforced') {
        const { memoryId, overrides, contests } = decision
        replace(overrides)
        sources.set(memoryId, [...(sources.get(memoryId) ?? queries.sources(memoryId)), ...sourceSeqs])
        const old = fresh.get(memoryId)
        if (old) fresh.set(memoryId, { ...old, sourceSeqs: [...old.sourceSeqs, ...sourceSeqs] })
        const use = accepted.agreed ? 'confirmation' : 'restatement'
        const reinforced: NewEvent = {
          type: 'memory.reinforced',
          ...envelope,
          derivedFrom: sourceSeqs,
          facts: { memoryId, use, sourceSeqs },
        }
        return {
          memoryId,
          facts: [reinforced, ...overridden(overrides, memoryId), ...conflicted(contests, memoryId)],
        }
      }

      const { refines, overrides, contests, linkedTo } = decision
      const memoryId = newId()
      replace([...overrides, ...(refines === null ? [] : [refines])])
      const refined = refines === null ? undefined : known.find((memory) => memory.memoryId === refines)
      // A refinement may repeat words of what it refines, so erasing those sources must erase it too.
      const inherited = refined
        ? [...refined.sourceSeqs, ...(fresh.has(refined.memoryId) ? [] : [refined.storedSeq])]
        : []
      fresh.set(memoryId, {
        ...accepted,
        memoryId,
        storedSeq: Number.MAX_SAFE_INTEGER,
        status: accepted.provisional ? 'provisional' : 'active',
        byHand: false,
        sourceSeqs,
        contestedWith: [],
      })
      const supersedes = refines ?? overrides[0] ?? null
      const stored = storedFact(accepted, envelope, { memoryId, supersedes, linkedTo, by, inherited })
      const facts: NewEvent[] = [stored]
      if (refines !== null)
        facts.push({
          type: 'memory.merged',
          ...envelope,
          facts: { memoryId, mergedId: refines, relation: 'refine' },
        })
      facts.push(...overridden(overrides, memoryId), ...conflicted(contests, memoryId))
      return { memoryId, facts }

      function conflicted(ids: readonly string[], memoryId: string): NewEvent[] {
        return ids.map((withId) => ({ type: 'memory.conflicted', ...envelope, facts: { memoryId, withId } }))
      }

      function overridden(ids: readonly string[], byId: string): NewEvent[] {
        return ids.map((id) => ({
          type: 'memory.overridden',
          ...envelope,
          facts: { memoryId: id, byId, validUntil: accepted.saidAt },
        }))
      }
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
