import type { MemoryRow } from '../../../projections/memory-queries.ts'
import { hasNumbers, numberRuns } from '../../text/numbers.ts'
import { foldText } from '../../text/text.ts'
import { contentWords, coverage, hasWord, indexWords } from '../../text/words.ts'
import type { Relation } from './candidate.ts'
import type { Accepted } from './checks.ts'
import { denies } from './cues.ts'

/** An existing memory, as consolidation sees it. */
export type Known = Pick<
  MemoryRow,
  | 'memoryId'
  | 'storedSeq'
  | 'kind'
  | 'text'
  | 'value'
  | 'quote'
  | 'eventTime'
  | 'canonicalKey'
  | 'slotKey'
  | 'statementKey'
  | 'status'
  | 'singleValued'
  | 'byHand'
> & {
  readonly sourceSeqs: readonly number[]
  readonly contestedWith: readonly string[]
}

export type Decision =
  /** Nothing new was said. */
  | { readonly outcome: 'repeated'; readonly memoryId: string }
  /** A conflicting memory has a newer source. */
  | { readonly outcome: 'outdated'; readonly memoryId: string }
  | {
      readonly outcome: 'reinforced'
      readonly memoryId: string
      readonly overrides: readonly string[]
      readonly contests: readonly string[]
    }
  | {
      readonly outcome: 'stored'
      /** The memory that the new one refines. */
      readonly refines: string | null
      readonly overrides: readonly string[]
      readonly contests: readonly string[]
      readonly linkedTo: string | null
    }

/**
 * Decides how a statement affects the known memories. Equal statements reinforce. Otherwise the extractor's
 * relation decides, where the two have words or a slot in common, and unless numbers, negation or a single-valued
 * slot contradict it. Without a relation, the newer statement on a single-valued slot overrides; all others
 * coexist. A provisional statement changes no other memory. Similarity never merges. Pure.
 */
export function consolidate(accepted: Accepted, known: readonly Known[]): Decision {
  const repeated = known.find((memory) => isRepetition(accepted, memory))
  if (repeated) return { outcome: 'repeated', memoryId: repeated.memoryId }

  const related = known.map((memory) => ({ memory, relation: relationTo(accepted, memory) }))
  const of = (relation: Relation) =>
    related.flatMap((each) => (each.relation === relation ? [each.memory] : []))
  const [same] = of('same')
  if (same && (accepted.provisional || same.sourceSeqs.includes(accepted.saidSeq)))
    return { outcome: 'repeated', memoryId: same.memoryId }

  const against = accepted.provisional ? [] : of('conflict')
  const refinable = accepted.provisional ? [] : of('refine')
  // Only what is said later refines what the owner wrote on the page.
  const settling = [...against, ...refinable.filter(({ byHand }) => byHand === 1)]
  const newer = settling.find(({ sourceSeqs }) => lastOf(sourceSeqs) > accepted.saidSeq)
  const idsOf = (memories: readonly Known[]) => memories.map(({ memoryId }) => memoryId)
  const overrides = idsOf(against.filter((memory) => isOverridden(accepted, memory)))
  const contests = idsOf(against.filter((memory) => !isOverridden(accepted, memory)))
  if (same) {
    // Restating one side of a conflict resolves it.
    const settled = lastOf(same.sourceSeqs) < accepted.saidSeq ? same.contestedWith : []
    return {
      outcome: 'reinforced',
      memoryId: same.memoryId,
      overrides: [...new Set([...settled, ...(newer ? [] : overrides)])],
      contests: contests.filter((id) => !same.contestedWith.includes(id)),
    }
  }
  if (newer) return { outcome: 'outdated', memoryId: newer.memoryId }
  const [refined] = refinable
  const sameSlot = known.find(({ slotKey }) => slotKey !== '' && slotKey === accepted.slotKey)
  const linkedTo = refined || against.length > 0 ? null : (sameSlot?.memoryId ?? null)
  return { outcome: 'stored', refines: refined?.memoryId ?? null, overrides, contests, linkedTo }
}

function relationTo(accepted: Accepted, memory: Known): Relation {
  // "Tomorrow at 3" means another day when said on another day.
  const isOtherDay = isOfOtherDay(accepted, memory)
  if (accepted.canonicalKey === memory.canonicalKey) return isOtherDay ? 'independent' : 'same'
  const claimed = claimOf(accepted, memory)
  if (isSameStatement(accepted, memory) && claimed !== 'conflict') {
    if (claimed === 'refine' && !contradicts(accepted, memory)) return 'refine'
    // Two visits to one city are two events.
    return isOtherDay || (claimed === 'independent' && accepted.eventTime !== null) ? 'independent' : 'same'
  }
  if (claimed === 'same' || claimed === 'refine') return contradicts(accepted, memory) ? 'conflict' : claimed
  if (claimed !== undefined) return claimed
  return bySlot(accepted, memory)
}

/** The extractor's claim, if the statement has anything to do with the memory. */
function claimOf(accepted: Accepted, memory: Known): Relation | undefined {
  const isAbout = isSameSlot(accepted, memory) || sharesWords(accepted, memory)
  if (!isAbout) return undefined
  if (accepted.ends === memory.memoryId) return 'conflict'
  const claimed = accepted.relations.find(({ memoryId }) => memoryId === memory.memoryId)?.relation
  if (claimed !== 'same' && claimed !== 'refine') return claimed
  const [ours, theirs] = [wordsOf(accepted), wordsOf(memory)]
  const overlap = Math.max(coverage(indexWords(...theirs), ours), coverage(indexWords(...ours), theirs))
  return overlap >= MIN_OVERLAP ? claimed : undefined
}

/** Share of words that statements of the same thing have in common. */
const MIN_OVERLAP = 0.5

const wordsOf = ({ text, value }: Pick<Known, 'text' | 'value'>) => contentWords(value || (text ?? ''))

/** Two statements about Mila share her name, and may still tell different things of her. */
function sharesWords(accepted: Accepted, memory: Known): boolean {
  const ours = indexWords(accepted.quote, accepted.text)
  const subject = indexWords(accepted.subject)
  return contentWords(memory.text ?? '').some((word) => !hasWord(subject, word) && hasWord(ours, word))
}

/** Same slot: another value where it holds one, a value said more exactly, or the same one with the opposite sign. */
function bySlot(accepted: Accepted, memory: Known): Relation {
  if (!isSameSlot(accepted, memory)) return 'independent'
  if (isOppositeOf(accepted, memory)) return 'conflict'
  if (!accepted.singleValued || memory.singleValued === 0) return 'independent'
  const [ours, theirs] = [wordsOf(accepted), wordsOf(memory)]
  if (contradicts(accepted, memory)) return 'conflict'
  if (coverage(indexWords(...theirs), ours) === 1) return 'same'
  return coverage(indexWords(...ours), theirs) === 1 ? 'refine' : 'conflict'
}

/** Tolerance for daylight saving time: a day may have 23 hours. */
const DST_TOLERANCE_MS = 60 * 60_000

function isOfOtherDay(accepted: Accepted, memory: Known): boolean {
  if (accepted.eventTime === null || memory.eventTime === null) return false
  const apartMs = Math.abs(Date.parse(accepted.eventTime) - Date.parse(memory.eventTime))
  return apartMs >= accepted.eventLastsMs - DST_TOLERANCE_MS
}

const isSameStatement = ({ statementKey }: Accepted, memory: Known) =>
  statementKey !== '' && statementKey === memory.statementKey

const isSameSlot = ({ slotKey }: Accepted, memory: Known) => slotKey !== '' && slotKey === memory.slotKey

/**
 * Whether the newer statement takes the memory's place: it says so, or only one of them can be true. Who somebody
 * is changes by their own words only, not by a "yes" to the delegate's.
 */
function isOverridden(accepted: Accepted, memory: Known): boolean {
  if (memory.status === 'provisional') return true
  if (memory.kind === 'identity' && accepted.agreed) return false
  if (accepted.ends === memory.memoryId || isOppositeOf(accepted, memory)) return true
  return isSameSlot(accepted, memory) && (accepted.singleValued || memory.singleValued === 1)
}

const SIGN = / [=≠] /

function isOppositeOf({ statementKey }: Accepted, memory: Known): boolean {
  const [ours, theirs] = [statementKey, memory.statementKey ?? '']
  return ours !== '' && ours !== theirs && ours.replace(SIGN, '|') === theirs.replace(SIGN, '|')
}

/** Whether numbers, a negation or a single-valued slot show that two statements cannot be the same. */
function contradicts(accepted: Accepted, memory: Known): boolean {
  const text = memory.text ?? ''
  if (numbersDiffer(accepted, memory) || denies(accepted.text) !== denies(text)) return true
  const isSoleValue = accepted.singleValued && memory.singleValued === 1 && isSameSlot(accepted, memory)
  if (!isSoleValue || accepted.value === '' || !memory.value) return false
  const index = indexWords(memory.value)
  return !contentWords(accepted.value).some((word) => hasWord(index, word))
}

/** Each text has a number that the other lacks. */
function numbersDiffer(a: Pick<Known, 'text' | 'value'>, b: Pick<Known, 'text' | 'value'>): boolean {
  const [ours, theirs] = [a, b].map(({ text, value }) => `${text} ${value}`)
  if (ours === undefined || theirs === undefined) return false
  return !hasNumbers(numberRuns(theirs), ours) && !hasNumbers(numberRuns(ours), theirs)
}

/**
 * Whether a statement says what a memory did that the owner has since replaced by hand: the same words, or the
 * utterance that it was learned from.
 */
export function isReplaced(accepted: Accepted, memory: Known, successorSeq: number): boolean {
  if (Math.max(accepted.saidSeq, ...accepted.sourceSeqs) > successorSeq) return false
  const isSame = accepted.canonicalKey === memory.canonicalKey || isSameStatement(accepted, memory)
  return isSame || isRepetition(accepted, memory)
}

/** The same utterance, learned by a tool during the turn and again by extraction after it. */
function isRepetition(accepted: Accepted, memory: Known): boolean {
  if (!memory.sourceSeqs.includes(accepted.saidSeq)) return false
  if (accepted.canonicalKey === memory.canonicalKey || isSameStatement(accepted, memory)) return true
  const [ours, theirs] = [foldText(accepted.quote), foldText(memory.quote ?? '')]
  if (theirs === '' || !(ours.includes(theirs) || theirs.includes(ours))) return false
  const index = indexWords(memory.text ?? '')
  const words = wordsOf(accepted)
  return words.length > 0 && words.every((word) => hasWord(index, word)) && !numbersDiffer(accepted, memory)
}

function lastOf(seqs: readonly number[]): number {
  return Math.max(0, ...seqs)
}
