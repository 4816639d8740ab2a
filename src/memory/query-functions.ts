import type { Sources, ThreadFunctions } from '../storage/function-thread.ts'
import { createForgetCandidates } from './forget/candidates.ts'
import { createForgettable } from './forget/forgettable.ts'
import { createMemoryStoreQuery } from './insights.ts'
import { createMemoryListing } from './listing.ts'
import { createRecallAnswers } from './recall/answer.ts'
import { createRecallRanker } from './recall/ranker.ts'
import type { RecallQuestion } from './recall/recall-port.ts'
import { createLastMessages, createRecallByThreshold } from './recall-examples.ts'

const recallOver = new WeakMap<Sources, ReturnType<typeof createRecall>>()

function createRecall(sources: Sources) {
  const ranker = createRecallRanker({ views: sources.views })
  return { ranker, ...createRecallAnswers({ ...sources, ranker }) }
}

/** Shared by all functions that recall, because it caches the index. */
function recallOf(sources: Sources) {
  const recall = recallOver.get(sources) ?? createRecall(sources)
  recallOver.set(sources, recall)
  return recall
}

/** What memory asks the query thread. */
export const queryFunctions = {
  chooseRecalled: (sources: Sources) => recallOf(sources).choose,
  lastMessages: createLastMessages,
  listMemories: createMemoryListing,
  memoryStore: createMemoryStoreQuery,
  forgetCandidates: (sources: Sources) =>
    createForgetCandidates({ ...sources, ranker: recallOf(sources).ranker }),
  forgettable: ({ views, ledger }: Sources) => createForgettable(views, ledger),
  recall: (sources: Sources) => (question: RecallQuestion) => recallOf(sources).recall(question),
  recallByThreshold: (sources: Sources) => createRecallByThreshold(recallOf(sources)),
} as const satisfies ThreadFunctions
