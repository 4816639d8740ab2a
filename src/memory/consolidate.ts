import type { MemoryRow } from '../../projections/memory-queries.ts'
import type { Accepted } from './assess.ts'
import { isDenial, isTurnedAway } from './gates-modality.ts'
import { lexiconOf } from './language/lexicon.ts'
import { spokenNumbers, writtenNumbers } from './language/numbers.ts'
import { foldText, languageOf } from './language/text.ts'
import { contentWords, hasWord, indexWords } from './language/words.ts'

/** A memory as it stands, for deciding what a new statement means to it. */
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

/** What becomes of a statement. */
export type Decision =
  /** The very words of the very event: nothing was said again. */
  | { readonly outcome: 'repeated'; readonly memoryId: string }
  /** Something newer that was said since is known. */
  | { readonly outcome: 'outdated'; readonly memoryId: string }
  | {
      readonly outcome: 'reinforced'
      readonly memoryId: string
      readonly overrides: readonly string[]
      readonly contests: readonly string[]
    }
  | {
      readonly outcome: 'stored'
      /** The version that it takes the place of. */
      readonly refines: string | null
      readonly overrides: readonly string[]
      readonly contests: readonly string[]
      readonly linkedTo: string | null
    }

/**
 * Decides what a statement means to what is known: equal ones reinforce; nearness only nominates; the extractor's
 * relation decides, unless numbers, negations or a slot of one value say otherwise; without one, the newer statement
 * on a slot of one value overrides, and all else stands side by side. Pure. `known` are current memories alone;
 * `nearestId` is the nearest of all by its words: similarity links, it never merges.
 */
export function consolidate(accepted: Accepted, known: readonly Known[], nearestId: string | null): Decision {
  const repeated = known.find((memory) => isRepetition(accepted, memory))
  if (repeated) return { outcome: 'repeated', memoryId: repeated.memoryId }

  const related = known.map((memory) => ({ memory, relation: relationTo(accepted, memory) }))
  const of = (relation: Related) =>
    related.flatMap((each) => (each.relation === relation ? [each.memory] : []))
  const against = of('conflict')
  const newer = against.find(({ sourceSeqs }) => lastOf(sourceSeqs) > accepted.saidSeq)
  const overrides = against.filter((memory) => gives(accepted, memory)).map(idOf)
  const contests = against.filter((memory) => !gives(accepted, memory)).map(idOf)

  const [same] = of('same')
  if (same?.sourceSeqs.includes(accepted.saidSeq)) return { outcome: 'repeated', memoryId: same.memoryId }
  if (same) {
    // Said again, one of two that contradict each other has been decided for.
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
  const told = accepted.relations.find(({ memoryId }) => memoryId === memory.memoryId)?.relation
  // "Tomorrow at 3" is another day when it is said on another.
  const isOther = isOfOtherDay(accepted, memory)
  if (accepted.canonicalKey === memory.canonicalKey) return isOther ? 'independent' : 'same'
  if (isSameStatement(accepted, memory)) {
    // Two visits to one city are two, and more about the same dog is more.
    if (told === 'refine' && !contradicts(accepted, memory)) return 'refine'
    const mayBeTwo = accepted.eventTime !== null || accepted.kind === 'episode'
    const isAnother = told === undefined ? isOther : told === 'independent' && mayBeTwo
    if (!isAnother && told !== 'conflict') return 'same'
  }
  if (told === 'same' || told === 'refine') return contradicts(accepted, memory) ? 'conflict' : told
  if (told !== undefined) return told
  return conflictsByRule(accepted, memory) ? 'conflict' : 'independent'
}

/** A day may have 23 hours, and a week or a year lack one as well. */
const LACKING_MS = 60 * 60_000

function isOfOtherDay(accepted: Accepted, memory: Known): boolean {
  if (accepted.eventTime === null || memory.eventTime === null) return false
  const apartMs = Math.abs(Date.parse(accepted.eventTime) - Date.parse(memory.eventTime))
  return apartMs >= accepted.eventLastsMs - LACKING_MS
}

function isSameStatement(accepted: Accepted, memory: Known): boolean {
  return accepted.statementKey !== '' && accepted.statementKey === memory.statementKey
}

/** The newer one wins where only one can be true and the owner says so. */
function gives(accepted: Accepted, memory: Known): boolean {
  return accepted.singleValued || memory.singleValued || accepted.isChange || isOppositeOf(accepted, memory)
}

/** Of the same slot: another value where there is room for one, or the same value with the opposite sign. */
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

/** Whether two statements cannot be the same, whatever somebody says: other numbers, a negation, another sole value. */
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

/** Both tell numbers, and neither tells all of the other's. */
function numbersDiffer(a: string, b: string): boolean {
  const [ours, theirs] = [numbersOf(a), numbersOf(b)]
  if (ours.size === 0 || theirs.size === 0) return false
  return !ours.isSubsetOf(theirs) && !theirs.isSubsetOf(ours)
}

function numbersOf(text: string): Set<number> {
  return new Set([...writtenNumbers(text).flatMap(({ parts }) => parts), ...spokenNumbers(text)])
}

type Worded = { readonly text: string; readonly value: string }

/** One denies what the other says, and no word of the other does so by its meaning. */
function isDeniedByOne(a: Worded, b: Worded): boolean {
  const [ours, theirs] = [a, b].map((worded) => {
    const lexicon = lexiconOf(languageOf(worded.text))
    return { denies: isDenial(worded, lexicon), turnsAway: isTurnedAway(worded, lexicon) }
  })
  if (!ours || !theirs || ours.denies === theirs.denies) return false
  return ours.denies ? !theirs.turnsAway : !ours.turnsAway
}

/** The same words of the same event, told in another way: by a tool during the turn, and by extraction after it. */
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
