import { defaultMemoryConfig } from '../../src/memory/config.ts'
import { composeInjection } from '../../src/memory/recall/injection.ts'
import type { Hit, RecallRanker, RecallRequest } from '../../src/memory/recall/ranker.ts'
import { createRecollections } from '../../src/memory/recall/recollections.ts'
import type { Corpus } from './recall-corpus.ts'
import type { Conversation } from './recall-data.ts'

export const DEPTHS = [5, 10, 25, 50] as const
export const BUDGETS = [250, 500, 1000, 2000] as const
/** Questions without an answer, which test for made-up ones; counted separately. */
export const ADVERSARIAL = 'adversarial'

/** How much of a question's evidence was found, as shares from 0 to 1. */
export type Outcome = {
  readonly category: string
  /** One share per value of DEPTHS. */
  readonly atDepth: readonly number[]
  /** One share per value of BUDGETS. */
  readonly withinTokens: readonly number[]
  /** From the question to the lines for the model, measured once. */
  readonly elapsedMs: number
  /** The part of it spent on choosing and writing the lines, which runs on the event loop in the product. */
  readonly composingMs: number
}

export function requestFor({ turns, speakers }: Conversation, question: string): RecallRequest {
  const [owner, delegate] = speakers
  return {
    text: question,
    asker: null,
    nowMs: Date.parse(turns.at(-1)?.at ?? ''),
    timezone: 'UTC',
    isRead: false,
    names: { owner: [owner], delegate: [delegate] },
    beforeSeq: Number.MAX_SAFE_INTEGER,
    excludedSeqs: new Set(),
  }
}

/** Asks a conversation's questions through recall, as a turn does. Skips questions without evidence. */
export function askQuestions(conversation: Conversation, corpus: Corpus, ranker: RecallRanker): Outcome[] {
  const recollect = createRecollections(corpus)
  const seqOf = new Map(conversation.turns.map(({ id }, index) => [id, corpus.seqs[index]]))
  const compose = (hits: readonly Hit[], question: string, maxInjectedTokens: number) =>
    composeInjection(recollect(hits), {
      maxInjectedTokens,
      relevanceThreshold: defaultMemoryConfig.relevanceThreshold,
      maxInjectedMemories: Number.POSITIVE_INFINITY,
      cue: question,
      timezone: 'UTC',
    })
  return conversation.questions.flatMap(({ question, category, evidence }): Outcome[] => {
    const wanted = new Set(evidence.map((id) => seqOf.get(id)).filter((seq) => seq !== undefined))
    if (wanted.size === 0) return []
    const share = (found: readonly { readonly seq: number }[]) =>
      found.filter(({ seq }) => wanted.has(seq)).length / wanted.size
    const request = requestFor(conversation, question)
    const startMs = performance.now()
    const hits = ranker.recall(request)
    const rankedMs = performance.now()
    compose(hits, question, defaultMemoryConfig.maxInjectedTokens)
    const endMs = performance.now()
    return [
      {
        category,
        atDepth: DEPTHS.map((depth) => share(hits.slice(0, depth))),
        withinTokens: BUDGETS.map((budget) => share(compose(hits, question, budget).included)),
        elapsedMs: endMs - startMs,
        composingMs: endMs - rankedMs,
      },
    ]
  })
}

export function meanOf(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, each) => sum + each, 0) / numbers.length
}

/** The value that this share of the numbers does not exceed. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0
}
