import type { MemoryRow } from '../../../projections/memory-queries.ts'
import { lexiconOf } from '../../text/lexicon.ts'
import { spokenNumbers, writtenNumbers } from '../../text/numbers.ts'
import { foldText, languageOf } from '../../text/text.ts'
import { contentWords, hasWord, indexWords } from '../../text/words.ts'
import type { Accepted } from './assess.ts'
import { isAverse, isDenial } from './gates-modality.ts'

/** An existing memory, as consolidation sees it. */
export type Known = Pick<
  MemoryRow,
  | 'memoryId'
  | 'storedSeq'
  | 'text'
  | 'value'
  | 'quote'
  | 'eventTime'
  | 'canonicalKey'
  | 'slotKey'
  | 'statementKey'
> & {
  readonly status: 'active' | 'contested'
  readonly singleValued: boolean
  readonly sourceSeqs: readonly number[]
  readonly contestedWith: readonly string[]
}

export type Decision =
  /** Same utterance and same statement: nothing new was said. */
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
 * relation decides, unless numbers, negation or a single-valued slot contradict it. Without a relation, the
 * newer statement on a single-valued slot overrides; all others coexist. Pure. `known` holds current memories
 * only. `nearestId` is the most similar memory; similarity adds a link but never merges.
 */
export function consolidate(accepted: Accepted, known: readonly Known[], nearestId: string | null): Decision {
  const repeated = known.find((memory) => isRepetition(accepted, memory))
  if (repeated) return { outcome: 'repeated', memoryId: repeated.memoryId }

  const related = known.map((memory) => ({ memory, relation: relationTo(accepted, memory) }))
  const of = (relation: Related) =>
    related.flatMap((each) => (each.relation === relation ? [each.memory] : []))
  const against = of('conflict')
  const newer = against.find(({ sourceSeqs }) => lastOf(sourceSeqs) > accepted.saidSeq)
  const overrides = against.filter((memory) => isOverridden(accepted, memory)).map(idOf)
  const contests = against.filter((memory) => !isOverridden(accepted, memory)).map(idOf)

  const [same] = of('same')
  if (same?.sourceSeqs.includes(accepted.saidSeq)) return { outcome: 'repeated', memoryId: same.memoryId }
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
  const [refined] = of('refine')
  const near = refined || against.length > 0 ? null : linkOf(accepted, known, nearestId)
  return { outcome: 'stored', refines: refined?.memoryId ?? null, overrides, contests, linkedTo: near }
}

type Related = 'same' | 'refine' | 'conflict' | 'independent'

function relationTo(accepted: Accepted, memory: Known): Related {
  const claimed = accepted.relations.find(({ memoryId }) => memoryId === memory.memoryId)?.relation
  // "Tomorrow at 3" means another day when said on another day.
  const isOtherDay = isOfOtherDay(accepted, memory)
  if (accepted.canonicalKey === memory.canonicalKey) return isOtherDay ? 'independent' : 'same'
  if (isSameStatement(accepted, memory)) {
    // Two visits to one city are separate events, and more about the same dog is a refinement.
    if (claimed === 'refine' && !contradicts(accepted, memory)) return 'refine'
    const mayBeTwo = accepted.eventTime !== null || accepted.kind === 'episode'
    const isAnother = claimed === undefined ? isOtherDay : claimed === 'independent' && mayBeTwo
    if (!isAnother && claimed !== 'conflict') return 'same'
  }
  if (claimed === 'same' || claimed === 'refine') return contradicts(accepted, memory) ? 'conflict' : claimed
  if (claimed !== undefined) return claimed
  return conflictsByRule(accepted, memory) ? 'conflict' : 'independent'
}

/** Tolerance for daylight saving time: a day may have 23 hours. */
const DST_TOLERANCE_MS = 60 * 60_000

function isOfOtherDay(accepted: Accepted, memory: Known): boolean {
  if (accepted.eventTime === null || memory.eventTime === null) return false
  const apartMs = Math.abs(Date.parse(accepted.eventTime) - Date.parse(memory.eventTime))
  return apartMs >= accepted.eventLastsMs - DST_TOLERANCE_MS
}

function isSameStatement(accepted: Accepted, memory: Known): boolean {
  return accepted.statementKey !== '' && accepted.statementKey === memory.statementKey
}

/** Whether the newer statement overrides: only one can be true, or the owner says that something changed. */
function isOverridden(accepted: Accepted, memory: Known): boolean {
  return accepted.singleValued || memory.singleValued || accepted.isChange || isOppositeOf(accepted, memory)
}

/** Same slot: another value where the slot holds one, or the same value with the opposite sign. */
function conflictsByRule(accepted: Accepted, memory: Known): boolean {
  if (accepted.slotKey === '' || accepted.slotKey !== memory.slotKey) return false
  if (isOppositeOf(accepted, memory)) return true
  if (!accepted.singleValued || !memory.singleValued) return false
  return accepted.statementKey !== memory.statementKey
}

const SIGN = / [=≠] /

function isOppositeOf({ statementKey }: Accepted, memory: Known): boolean {
  const [ours, theirs] = [statementKey, memory.statementKey ?? '']
  return ours !== '' && ours !== theirs && ours.replace(SIGN, '|') === theirs.replace(SIGN, '|')
}

/** Whether numbers, a negation or a single-valued slot show that two statements cannot be the same. */
function contradicts(accepted: Accepted, memory: Known): boolean {
  const text = memory.text ?? ''
  if (numbersDiffer(`${accepted.text} ${accepted.value}`, `${text} ${memory.value ?? ''}`)) return true
  if (isDeniedByOne(accepted, { text, value: memory.value ?? '' })) return true
  const isSoleValue =
    accepted.singleValued &&
    memory.singleValued &&
    accepted.slotKey !== '' &&
    accepted.slotKey === memory.slotKey
  if (!isSoleValue || accepted.value === '' || !memory.value) return false
  const index = indexWords(memory.value)
  return !contentWords(accepted.value).some((word) => hasWord(index, word))
}

/** Each text has a number that the other lacks. */
function numbersDiffer(a: string, b: string): boolean {
  const [ours, theirs] = [numbersOf(a), numbersOf(b)]
  if (ours.size === 0 || theirs.size === 0) return false
  return !ours.isSubsetOf(theirs) && !theirs.isSubsetOf(ours)
}

function numbersOf(text: string): Set<number> {
  return new Set([...writtenNumbers(text).flatMap(({ parts }) => parts), ...spokenNumbers(text)])
}

type Worded = { readonly text: string; readonly value: string }

/** One text negates, and the other has no negative word ("hates") that means the same. */
function isDeniedByOne(a: Worded, b: Worded): boolean {
  const [ours, theirs] = [a, b].map((worded) => {
    const lexicon = lexiconOf(languageOf(worded.text))
    return { denies: isDenial(worded, lexicon), isAverse: isAverse(worded, lexicon) }
  })
  if (!ours || !theirs || ours.denies === theirs.denies) return false
  return ours.denies ? !theirs.isAverse : !ours.isAverse
}

/** The same utterance, learned by a tool during the turn and again by extraction after it. */
function isRepetition(accepted: Accepted, memory: Known): boolean {
  if (!memory.sourceSeqs.includes(accepted.saidSeq)) return false
  if (accepted.canonicalKey === memory.canonicalKey || isSameStatement(accepted, memory)) return true
  const [ours, theirs] = [foldText(accepted.quote), foldText(memory.quote ?? '')]
  if (theirs === '' || !(ours.includes(theirs) || theirs.includes(ours))) return false
  const index = indexWords(memory.text ?? '')
  const words = contentWords(accepted.value === '' ? accepted.text : accepted.value)
  return (
    words.length > 0 &&
    words.every((word) => hasWord(index, word)) &&
    !numbersDiffer(accepted.text, memory.text ?? '')
  )
}

function linkOf(accepted: Accepted, known: readonly Known[], nearestId: string | null): string | null {
  const sameSlot = known.find(({ slotKey }) => slotKey !== '' && slotKey === accepted.slotKey)
  return sameSlot?.memoryId ?? nearestId
}

function lastOf(seqs: readonly number[]): number {
  return Math.max(0, ...seqs)
}

function idOf({ memoryId }: Known): string {
  return memoryId
}
