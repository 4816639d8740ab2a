import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { searchTimeline } from '../../projections/search.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { defaultMemoryConfig } from '../../src/memory/config.ts'
import { createMemoryStoreQuery } from '../../src/memory/insights.ts'
import { createRecallAnswers } from '../../src/memory/recall/answer.ts'
import { createRecallRanker } from '../../src/memory/recall/ranker.ts'
import { createRandom } from '../support/random.ts'
import { median, quantile, round, timed } from './statistics.ts'
import type { PreparedLedger } from './views.ts'
import { createText, FREQUENT_WORD } from './vocabulary.ts'

const QUESTIONS = 400
const WORDS = 12
const CONTEXT_EVENTS = 200
const RUNS = 20

/**
 * Milliseconds of the query thread's work over each ledger: recall after a cold start, a search for the most
 * frequent word and for words with its prefix, and memory's insights.
 */
export function benchLookups(ledgers: readonly PreparedLedger[]) {
  return Object.fromEntries(ledgers.map(({ size, directory }) => [size, measure(directory)]))
}

function measure(directory: string) {
  const ledgerDb = openLedgerReadOnly(directory)
  const views = openViewsReadOnly(directory)
  const ledger = createReader(ledgerDb)
  const { recall } = createRecallAnswers({ views, ledger, ranker: createRecallRanker({ views }) })
  const text = createText(createRandom(99).next)
  const { seq } = ledger.head()
  const [last] = ledger.readSeqs([seq])
  const ask = () =>
    recall({
      text: text(WORDS),
      asker: 'owner',
      conversationId: last?.conversationId ?? null,
      beforeSeq: seq + 1,
      // Twelve words also match by their roots, which costs more than the longest cue.
      contextTurns: 0,
      inContextSeqs: Array.from({ length: CONTEXT_EVENTS }, (_, index) => seq - index),
      staged: [],
      nowMs: Date.parse(last?.at ?? ''),
      isRead: true,
      timezone: 'Europe/Berlin',
      config: defaultMemoryConfig,
      withWords: false,
    })
  const search = (query: string) => searchTimeline(views, { query, limit: 50, beforeSeq: null })
  const insights = createMemoryStoreQuery({ views, ledger })
  const medianOf = (work: () => unknown) => round(median(Array.from({ length: RUNS }, () => timed(work))))
  const recalls = Array.from({ length: QUESTIONS }, () => timed(ask))
  const figures = {
    recallP50Ms: round(quantile(recalls, 0.5)),
    recallP99Ms: round(quantile(recalls, 0.99)),
    searchWordMs: medianOf(() => search(`${FREQUENT_WORD} `)),
    searchBeginningMs: medianOf(() => search(FREQUENT_WORD)),
    insightsMs: medianOf(() => insights(null)),
  }
  views.close()
  ledgerDb.close()
  return figures
}
