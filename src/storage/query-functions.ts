import { searchTimeline, type TimelineSearch } from '../../projections/search.ts'
import { createErasurePlan } from '../erasing/plan.ts'
import { createFindMemories } from '../memory/forget/find.ts'
import { createForgettable } from '../memory/forget/forgettable.ts'
import { createMemoryStoreQuery } from '../memory/insights.ts'
import { createMemoryListing } from '../memory/listing.ts'
import { createRecallAnswers } from '../memory/recall/answer.ts'
import { createRecallRanker } from '../memory/recall/ranker.ts'
import type { RecallQuestion } from '../memory/recall/recall-port.ts'
import type { Sources, ThreadFunctions } from './function-thread.ts'

const answersOver = new WeakMap<Sources, ReturnType<typeof createRecallAnswers>>()

/** Shared by both recall functions, because it caches the index. */
function recallAnswers(sources: Sources) {
  const answers =
    answersOver.get(sources) ??
    createRecallAnswers({ ...sources, ranker: createRecallRanker({ views: sources.views }) })
  answersOver.set(sources, answers)
  return answers
}

export const queryFunctions = {
  chooseRecalled: (sources: Sources) => recallAnswers(sources).choose,
  findMemories: ({ views }: Sources) => createFindMemories(views),
  listMemories: ({ views }: Sources) => createMemoryListing(views),
  memoryStore: createMemoryStoreQuery,
  forgettableMemory: ({ views }: Sources) => createForgettable(views).memory,
  forgettableWords: ({ views }: Sources) => createForgettable(views).words,
  planErasure: createErasurePlan,
  recall: (sources: Sources) => (question: RecallQuestion) => recallAnswers(sources).recall(question),
  searchTimeline:
    ({ views }: Sources) =>
    (args: TimelineSearch) =>
      searchTimeline(views, args),
} as const satisfies ThreadFunctions
