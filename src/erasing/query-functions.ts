import type { ThreadFunctions } from '../storage/function-thread.ts'
import { createErasurePlan } from './plan.ts'

/** What erasing asks the query thread. */
export const queryFunctions = { planErasure: createErasurePlan } as const satisfies ThreadFunctions
