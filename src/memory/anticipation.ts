import { isDeepStrictEqual } from 'node:util'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { RecallAnswer, RecallQuestion } from './recall-port.ts'

export type Anticipation = {
  /** Begins to recall for words that have arrived and are not a fact yet. The last of them alone is kept. */
  begin(question: RecallQuestion): void
  /** The answer that was begun, where it is this question's and nothing has come to pass since; else asks. */
  ask(question: RecallQuestion): Promise<RecallAnswer>
}

/**
 * Recall needs the words of a message, which are there before the message is durable. What is recalled depends on the
 * facts before it: it holds while the message and the start of its turn are the only new ones.
 */
export function createAnticipation(options: {
  readonly ledger: Pick<LedgerReader, 'head' | 'seqsOf'>
  readonly ask: (question: RecallQuestion) => Promise<RecallAnswer>
}): Anticipation {
  const { ledger, ask } = options
  let begun: { readonly question: RecallQuestion; readonly answer: Promise<RecallAnswer> } | null = null

  function holds({ beforeSeq }: RecallQuestion): boolean {
    const lastSeq = ledger.head().seq
    const starts = ledger.seqsOf(['turn.started'], { firstSeq: beforeSeq + 1, lastSeq })
    return starts.length === lastSeq - beforeSeq
  }

  return {
    begin(question) {
      const answer = ask(question)
      // Whoever asks hears of it.
      answer.catch(() => undefined)
      begun = { question, answer }
    },
    ask(question) {
      const last = begun
      begun = null
      return last && isSame(last.question, question) && holds(question) ? last.answer : ask(question)
    },
  }
}

/** The moment is that of the question begun: recall knows no less by it. */
function isSame(begun: RecallQuestion, question: RecallQuestion): boolean {
  return isDeepStrictEqual({ ...begun, nowMs: 0 }, { ...question, nowMs: 0 })
}
