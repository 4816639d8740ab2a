import type { Sources, ThreadFunctions } from '../storage/function-thread.ts'
import { createFindMemories } from './forget/find.ts'
import { createForgettable } from './forget/forgettable.ts'
import { createMemoryStoreQuery } from './insights.ts'
import { createMemoryListing } from './listing.ts'
import { createRecallAnswers } from './recall/answer.ts'
import { createRecallRanker } from './recall/ranker.ts'
import type { RecallQuestion } from './recall/recall-port.ts'
import { createLastMessages, createRecallByThreshold } from './recall-examples.ts'

const answersOver = new WeakMap<Sources, ReturnType<typeof createRecallAnswers>>()

/** Shared by the recall functions, because it caches the index. */
function recallAnswers(sources: Sources) {
  const answers =
    answersOver.get(sources) ??
    createRecallAnswers({ ...sources, ranker: createRecallRanker({ views: sources.views }) })
  answersOver.set(sources, answers)
  return answers
}

/** What memory asks the query thread. */
export const queryFunctions = {
  chooseRecalled: (sources: Sources) => recallAnswers(sources).choose,
  findMemories: ({ views }: Sources) => createFindMemories(views),
  lastMessages: createLastMessages,
  listMemories: createMemoryListing,
  memoryStore: createMemoryStoreQuery,
  forgettableMemory: ({ views }: Sources) => createForgettable(views).memory,
  forgettableWords: ({ views }: Sources) => createForgettable(views).words,
  recall: (sources: Sources) => (question: RecallQuestion) => recallAnswers(sources).recall(question),
  recallByThreshold: (sources: Sources) => createRecallByThreshold(recallAnswers(sources)),
} as const satisfies ThreadFunctions
