import { createBarredSummariesQuery } from '../../projections/barred-summaries.ts'
import { createMemoryQueries, type MemoryRow } from '../../projections/memory-queries.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import type { Sources, ThreadFunctions } from '../storage/function-thread.ts'
import { createEchoes, type Matter } from './echoes.ts'
import { writtenNumbers } from './language/numbers.ts'
import { contentWords } from './language/words.ts'

/** Words and numbers by which something that is forgotten is found wherever else it was spoken of. */
export type Telling = { readonly words: readonly string[]; readonly numbers: readonly string[] }

/** What forgetting a memory comes to: every version of it, and what may no longer be learned from. */
export type ToForget = {
  readonly versions: readonly { readonly memoryId: string; readonly storedSeq: number }[]
  readonly barredSeqs: readonly number[]
}

/** A number of so many digits is told by nobody twice by chance. */
const TELLING_DIGITS = 4
/** A longer quote tells more than the memory. */
const MAX_QUOTED_WORDS = 8

/** What forgetting reads, over the stores of a data directory. */
function createReading({ views, ledger }: Sources) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)
  const turns = createTurnQueries(views)

  /** The memory and every version that it took the place of: those are seen by nobody and would stay behind. */
  function versionsOf(memoryId: string): MemoryRow[] {
    const memory = queries.byId(memoryId)
    if (!memory) return []
    const versions = new Map([[memory.memoryId, memory] as const])
    for (const known of versions.values()) {
      for (const older of queries.predecessors(known.memoryId)) versions.set(older.memoryId, older)
    }
    return [...versions.values()]
  }

  /** Whatever else was said in the same turns: the answer may well repeat it. */
  function turnsOf(seqs: readonly number[]): number[] {
    const turnIds = new Set(seqs.flatMap((seq) => utterances.bySeq(seq)?.turnId ?? []))
    return [...turnIds].flatMap((turnId) =>
      turns.eventSeqs(turnId).filter((other) => utterances.bySeq(other)),
    )
  }

  return { queries, utterances, echoes: createEchoes({ views, ledger }), versionsOf, turnsOf }
}

/** The reading behind forgetting, for the learning thread: the event loop belongs to the voice. */
export const forgettingFunctions = {
  /** What tells each version of a memory: the owner's words as quoted, or a number. Empty where there is none. */
  tellingsOf: (sources: Sources) => {
    const { versionsOf } = createReading(sources)
    return (memoryId: string): Telling[] => versionsOf(memoryId).map(tellingOf)
  },

  /** Null where there is no such memory. `mentionedSeqs`: where else it was spoken of. */
  toForget: (sources: Sources) => {
    const { queries, echoes, versionsOf, turnsOf } = createReading(sources)
    return ({
      memoryId,
      mentionedSeqs,
    }: {
      readonly memoryId: string
      readonly mentionedSeqs: readonly number[]
    }): ToForget | null => {
      const versions = versionsOf(memoryId)
      if (versions.length === 0) return null
      const sourceSeqs = versions.flatMap((version) => queries.sources(version.memoryId))
      const echoedSeqs = versions.flatMap((version) => echoes.ofMemory(matterOf(version)))
      const toldSeqs = [...sourceSeqs, ...mentionedSeqs, ...echoedSeqs]
      return {
        versions: versions.map((version) => ({ memoryId: version.memoryId, storedSeq: version.storedSeq })),
        barredSeqs: inOrder([...toldSeqs, ...turnsOf(toldSeqs)]),
      }
    }
  },

  /**
   * Of what was mentioned in the words, what the owner said of it and is not barred yet, where that was told again, and
   * what else was said in the same turns.
   */
  toBar: (sources: Sources) => {
    const { queries, utterances, echoes, turnsOf } = createReading(sources)
    return ({
      words,
      mentionedSeqs,
    }: {
      readonly words: readonly string[]
      readonly mentionedSeqs: readonly number[]
    }): { readonly found: number; readonly barredSeqs: number[] } => {
      const open = mentionedSeqs.filter((seq) => !queries.isBarred(seq))
      const found = open.filter((seq) => utterances.bySeq(seq)?.speaker === 'owner')
      const toldSeqs = [...open, ...echoes.ofSaid(found, words)]
      return { found: found.length, barredSeqs: inOrder([...toldSeqs, ...turnsOf(toldSeqs)]) }
    }
  },

  /** What tells in its own words of what is barred; see `createBarredSummariesQuery`. */
  barredSummaries: ({ views }: Sources) => {
    const barredSummaries = createBarredSummariesQuery(views)
    return (_args: null) => barredSummaries()
  },
} as const satisfies ThreadFunctions

function wordsTelling({ text, quote }: MemoryRow): readonly string[] {
  const quoted = contentWords(quote ?? '')
  return quoted.length >= 2 && quoted.length <= MAX_QUOTED_WORDS ? quoted : contentWords(text ?? '')
}

function matterOf(memory: MemoryRow): Matter {
  return { value: contentWords(memory.value ?? ''), words: wordsTelling(memory) }
}

function tellingOf(memory: MemoryRow): Telling {
  const { text, value } = memory
  const numbers = writtenNumbers(value || (text ?? '')).filter(
    ({ digits }) => digits.length >= TELLING_DIGITS,
  )
  return {
    words: wordsTelling(memory),
    numbers: numbers.flatMap(({ digits, parts }) => (parts.length === 1 ? [digits] : [])),
  }
}

function inOrder(seqs: readonly number[]): number[] {
  return [...new Set(seqs)].sort((a, b) => a - b)
}
