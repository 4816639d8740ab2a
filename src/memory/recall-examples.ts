import { createMemoryQueries } from '../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import type { RecallCue } from '../lib/recall.ts'
import { shorten } from '../lib/shorten.ts'
import type { Sources } from '../storage/function-thread.ts'
import { createWindowReader, type Utterance } from './learn/window.ts'
import type { createRecallAnswers } from './recall/answer.ts'
import type { RecallQuestion } from './recall/recall-port.ts'
import type { Near } from './recall/vectors.ts'

const MAX_MESSAGES = 10
const SHOWN_CHARS = 300

/** The owner's last messages, newest first, without any that the delegate must not look at. */
export function createLastMessages({ views, ledger }: Pick<Sources, 'views' | 'ledger'>) {
  const utterances = createUtteranceQueries(views)
  const { repeatsBarred } = createMemoryQueries(views)
  const windows = createWindowReader({ ledger, utterances, isHidden: repeatsBarred })
  return (_none: null): Utterance[] =>
    utterances.lastOfOwner(MAX_MESSAGES).flatMap((seq) => windows.utteranceAt(seq) ?? [])
}

/**
 * Asks recall at every hundredth of the threshold: which lines it shows also depends on their order, the limits
 * and repetitions.
 */
export function createRecallByThreshold({ recall, choose }: ReturnType<typeof createRecallAnswers>) {
  return (question: RecallQuestion) => {
    const { hits } = recall(question)
    const lines = new Map<number, string>()
    /** The lines shown from a threshold until the next step. */
    const steps: { from: number; seqs: number[] }[] = []
    for (let hundredth = 0; hundredth <= 100; hundredth += 1) {
      const from = hundredth / 100
      const config = { ...question.config, relevanceThreshold: from }
      const { shown, text } = choose({ ...question, hits, config })
      const seqs = shown.map(({ seq }) => seq).sort((a, b) => a - b)
      // The lines have the same order.
      const texts = text.split('\n')
      for (const [index, seq] of seqs.entries()) lines.set(seq, texts[index] ?? '')
      if (String(seqs) !== String(steps.at(-1)?.seqs)) steps.push({ from, seqs })
      if (seqs.length === 0) break
    }
    return {
      /** All lines that some threshold shows, as the model reads them, oldest first. */
      lines: [...lines].sort(([a], [b]) => a - b).map(([seq, text]) => ({ seq, text })),
      steps,
    }
  }
}

/** What recall would show for the owner's last messages if each opened a new conversation. */
export function createRecallExamples(options: {
  readonly lastMessages: () => Promise<readonly Utterance[]>
  readonly questionOf: (cue: RecallCue) => RecallQuestion
  readonly near: (text: string) => Promise<readonly Near[] | null>
  readonly byThreshold: (
    question: RecallQuestion,
  ) => Promise<ReturnType<ReturnType<typeof createRecallByThreshold>>>
}) {
  return async () => {
    const messages = await options.lastMessages()
    const neighbours = await Promise.all(messages.map(({ text }) => options.near(text)))
    const examples = []
    // One at a time, so that the recall of a turn waits for one at most.
    for (const [index, { seq, at, text, conversationId }] of messages.entries()) {
      const question = options.questionOf({
        text,
        conversationId,
        turnId: '',
        spanId: null,
        channel: 'chat',
        beforeSeq: seq,
        inContextSeqs: [],
      })
      const asked = { ...question, nowMs: Date.parse(at), near: neighbours[index] ?? [], withWords: false }
      examples.push({ seq, at, text: shorten(text, SHOWN_CHARS), ...(await options.byThreshold(asked)) })
    }
    return examples
  }
}
