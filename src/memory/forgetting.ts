import type { Append, NewEvent } from '../../ledger/event.ts'
import type { MemoryQueries } from '../../projections/memory-queries.ts'
import type { LearningThread } from './learning-functions.ts'
import type { Lock } from './lock.ts'
import type { MemoryOrigin } from './memories.ts'

/** So many messages may be about one matter; what more speak of is a word that many share. */
export const MAX_BARRED = 20

export type Forgetting = {
  /**
   * Forgets for good: the memory with what it had taken the place of, everything derived from them, their index
   * entries and their words. What was said stays on the timeline, but is barred from recall, context, capsule and
   * extraction; a capsule or replacement that tells it goes.
   * False where there is no such memory. Rejects with LedgerUnavailable while the files may still hold words of it.
   */
  forget(memoryId: string, origin: MemoryOrigin): Promise<boolean>
  /**
   * Bars what the owner said in all of the words, and what answered it, whether or not anything was learned from it.
   * How often it was said. Where that is more often than `MAX_BARRED` the words tell too little, and nothing is barred:
   * it could not be undone.
   */
  bar(words: readonly string[], origin: MemoryOrigin): Promise<number>
  /** Finishes what a crash left between forgetting and erasing. */
  finishErasing(): Promise<void>
}

export function createForgetting(options: {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly thread: LearningThread
  readonly mentions: (words: readonly string[], numbers: readonly string[]) => Promise<readonly number[]>
  readonly erase: (seqs: readonly number[], reason: 'memory_forgotten') => Promise<unknown>
  readonly lock: Lock
}): Forgetting {
  const { append, queries, thread, mentions, lock } = options

  /** So much was barred when what tells of it was last looked for: each time anew would start a thread for nothing. */
  let lookedAtCount = 0

  /** Erases, with what tells in its own words of what is barred by now. */
  async function eraseWithSummaries(seqs: readonly number[]): Promise<void> {
    const all = [...seqs, ...(await thread.ask('barredSummaries', null))]
    if (all.length > 0) await options.erase(all, 'memory_forgotten')
  }

  return {
    async forget(memoryId, origin) {
      const tellings = await thread.ask('tellingsOf', memoryId)
      if (tellings.length === 0) return false
      const mentioned = await Promise.all(tellings.map(({ words, numbers }) => mentions(words, numbers)))
      const mentionedSeqs = [...mentioned.flat(), ...askedIn(origin)]
      const forgotten = await lock(async () => {
        const found = await thread.ask('toForget', { memoryId, mentionedSeqs })
        if (!found) return null
        await append(
          found.versions.map(
            (version, index): NewEvent => ({
              type: 'memory.deleted',
              ...envelopeOf(origin),
              key: `memory-deleted:${version.memoryId}`,
              facts: {
                memoryId: version.memoryId,
                sourceSeqs: index === 0 ? [...found.barredSeqs] : [],
                by: origin.by,
              },
            }),
          ),
        )
        return found
      })
      if (forgotten === null) return false
      await eraseWithSummaries(forgotten.versions.map(({ storedSeq }) => storedSeq))
      return true
    },

    async bar(words, origin) {
      const numbers = words.filter((word) => /^\d{4,}$/.test(word))
      const asked = askedIn(origin)
      const mentioned = (await mentions(words, numbers)).filter((seq) => !asked.includes(seq))
      if (mentioned.length === 0) return 0
      const found = await lock(async () => {
        const { found, barredSeqs } = await thread.ask('toBar', { words, mentionedSeqs: mentioned })
        if (found === 0 || found > MAX_BARRED) return found
        const sourceSeqs = [...new Set([...barredSeqs, ...asked])].sort((a, b) => a - b)
        await append([
          {
            type: 'memory.sources.barred',
            ...envelopeOf(origin),
            facts: { sourceSeqs, by: origin.by },
          },
        ])
        return found
      })
      if (found > 0 && found <= MAX_BARRED) await eraseWithSummaries([])
      return found
    },

    async finishErasing() {
      const seqs = queries.unerasedSeqs()
      const count = queries.barredCount()
      if (seqs.length === 0 && count === lookedAtCount) return
      await eraseWithSummaries(seqs)
      lookedAtCount = count
    },
  }
}

/** The message that asks to forget names what is to be forgotten. */
function askedIn({ messageSeq }: MemoryOrigin): number[] {
  return messageSeq ? [messageSeq] : []
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
