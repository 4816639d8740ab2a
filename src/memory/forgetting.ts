import type { Append, NewEvent } from '../../ledger/event.ts'
import type { MemoryQueries, MemoryRow } from '../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../projections/utterances.ts'
import { writtenNumbers } from './language/numbers.ts'
import { contentWords } from './language/words.ts'
import type { Lock } from './lock.ts'
import type { MemoryOrigin } from './memories.ts'

export type Forgetting = {
  /**
   * Forgets for good: the memory with what it had taken the place of, everything derived from them, their index
   * entries and their words. What was said stays on the timeline, but is barred from recall, capsule and extraction.
   * False where there is no such memory. Rejects with LedgerUnavailable while the files may still hold words of it.
   */
  forget(memoryId: string, origin: MemoryOrigin): Promise<boolean>
  /** Bars words from which nothing was learned yet, so that nothing will be. How many utterances those were. */
  bar(words: readonly string[], origin: MemoryOrigin): Promise<number>
  /** Finishes what a crash left between forgetting and erasing. */
  finishErasing(): Promise<void>
}

/** A number of so many digits is told by nobody twice by chance. */
const TELLING_DIGITS = 4
/** A longer quote tells more than the memory. */
const MAX_QUOTED_WORDS = 8

export function createForgetting(options: {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
  readonly mentions: (words: readonly string[], numbers: readonly string[]) => Promise<readonly number[]>
  readonly turnEventSeqs: (turnId: string) => readonly number[]
  readonly erase: (seqs: readonly number[], reason: 'memory_forgotten') => Promise<unknown>
  readonly lock: Lock
}): Forgetting {
  const { append, queries, utterances, lock } = options

  /** The memory and every version that it took the place of: those are seen by nobody and would stay behind. */
  function versionsOf(memory: MemoryRow): MemoryRow[] {
    const versions = new Map([[memory.memoryId, memory] as const])
    for (const { memoryId } of versions.values()) {
      for (const older of queries.predecessors(memoryId)) versions.set(older.memoryId, older)
    }
    return [...versions.values()]
  }

  /** Where else it was spoken of: in the owner's words as quoted, or by a number that tells it. */
  async function mentionsOf({ text, value, quote }: MemoryRow): Promise<readonly number[]> {
    const numbers = writtenNumbers(value || (text ?? '')).filter(
      ({ digits }) => digits.length >= TELLING_DIGITS,
    )
    const quoted = contentWords(quote ?? '')
    const words = quoted.length >= 2 && quoted.length <= MAX_QUOTED_WORDS ? quoted : contentWords(text ?? '')
    return options.mentions(
      words,
      numbers.flatMap(({ digits, parts }) => (parts.length === 1 ? [digits] : [])),
    )
  }

  /** Whatever else was said in the same turns: the answer may well repeat it. */
  function turnsOf(seqs: readonly number[]): number[] {
    return seqs.flatMap((seq) => {
      const turnId = utterances.bySeq(seq)?.turnId
      return turnId ? options.turnEventSeqs(turnId).filter((other) => utterances.bySeq(other)) : []
    })
  }

  return {
    async forget(memoryId, origin) {
      const known = queries.byId(memoryId)
      if (!known) return false
      const mentioned = (await Promise.all(versionsOf(known).map(mentionsOf))).flat()
      const storedSeqs = await lock(async () => {
        const memory = queries.byId(memoryId)
        if (!memory) return null
        const versions = versionsOf(memory)
        const sources = versions.flatMap((version) => queries.sources(version.memoryId))
        const asked = origin.messageSeq ? [origin.messageSeq] : []
        const named = [...sources, ...mentioned, ...asked]
        const barred = [...new Set([...named, ...turnsOf(sources)])].sort((a, b) => a - b)
        await append(
          versions.map(
            (version, index): NewEvent => ({
              type: 'memory.deleted',
              ...envelopeOf(origin),
              key: `memory-deleted:${version.memoryId}`,
              facts: { memoryId: version.memoryId, sourceSeqs: index === 0 ? barred : [], by: origin.by },
            }),
          ),
        )
        return versions.map(({ storedSeq }) => storedSeq)
      })
      if (storedSeqs === null) return false
      await options.erase(storedSeqs, 'memory_forgotten')
      return true
    },

    async bar(words, origin) {
      const unread = new Set(utterances.unreadSeqs(1000))
      const numbers = words.filter((word) => /^\d{4,}$/.test(word))
      const found = (await options.mentions(words, numbers)).filter(
        (seq) => unread.has(seq) && seq !== origin.messageSeq,
      )
      if (found.length === 0) return 0
      const sourceSeqs = [
        ...new Set([...found, ...turnsOf(found), ...(origin.messageSeq ? [origin.messageSeq] : [])]),
      ]
      await lock(() =>
        append([
          {
            type: 'memory.sources.barred',
            ...envelopeOf(origin),
            facts: { sourceSeqs: sourceSeqs.sort((a, b) => a - b), by: origin.by },
          },
        ]),
      )
      return found.length
    },

    async finishErasing() {
      const seqs = queries.unerasedSeqs()
      if (seqs.length > 0) await options.erase(seqs, 'memory_forgotten')
    },
  }
}

function envelopeOf({ by, channel, conversationId, spanId, turnId, causedBy }: MemoryOrigin) {
  return {
    actor: by === 'owner' ? 'owner' : 'delegate',
    channel,
    conversationId,
    spanId,
    turnId,
    causedBy,
  } as const
}
