import type { NewEvent } from '../../ledger/event.ts'
import type { MemoryRow } from '../../projections/memories.ts'
import type { Recall } from '../conversation/recall.ts'
import { estimateTokens } from '../model/tokens.ts'
import type { Memories } from './memories.ts'

const MAX_MEMORIES = 12
const MAX_TOKENS = 500
const MAX_CUE_WORDS = 24
const WORD = /[\p{L}\p{N}\p{M}]{3,}/gu

/** What is remembered and may matter, given to the model as dated lines; in its first form, by shared words. */
export function createPassiveRecall(options: {
  readonly memories: Memories
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}): Recall {
  return async (cue) => {
    const startedMs = options.nowMs()
    try {
      const words = [...new Set(cue.text.toLowerCase().match(WORD) ?? [])].slice(0, MAX_CUE_WORDS)
      const found = await options.memories.findAny(words, MAX_MEMORIES)
      const fresh = found.filter((memory) => !cue.inContextSeqs.has(memory.storedSeq))
      const lines: string[] = []
      const ids: string[] = []
      const seqs: number[] = []
      let tokens = 0
      for (const memory of fresh) {
        const line = lineOf(memory)
        const cost = estimateTokens(line)
        if (line === '' || tokens + cost > MAX_TOKENS) continue
        tokens += cost
        lines.push(line)
        ids.push(memory.memoryId)
        seqs.push(memory.storedSeq)
      }
      if (ids.length === 0) return { text: null, seqs: [], facts: [] }
      const { turnId, conversationId, spanId } = cue
      const recalled: NewEvent = {
        type: 'memory.recalled',
        actor: 'service',
        channel: 'inner',
        conversationId,
        spanId,
        turnId,
        derivedFrom: seqs,
        facts: {
          ids,
          turnSeqs: [],
          late: false,
          injectedTokens: tokens,
          durationMs: Math.max(0, options.nowMs() - startedMs),
        },
      }
      return { text: lines.join('\n'), seqs, facts: [recalled] }
    } catch (error) {
      options.onFault(error)
      return { text: null, seqs: [], facts: [] }
    }
  }
}

function lineOf({ text, createdAt, status }: MemoryRow): string {
  return text === null
    ? ''
    : `- ${text} (${createdAt.slice(0, 10)}${status === 'contested' ? ', contested' : ''})`
}
