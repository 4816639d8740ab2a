import type { EventOf } from '../../../ledger/event.ts'
import { AllowanceSpent, type ChatModel, ModelError, type ModelFailureKind } from '../../model/port.ts'

export type ChatModels = ReturnType<typeof createChatModels>

type FailedModel = NonNullable<EventOf<'turn.completed'>['facts']['failedModels']>[number]

/** Failures of the service, which another may not have: none of the request, and none of ours. */
const PASSED_ON: ReadonlySet<ModelFailureKind> = new Set([
  'auth',
  'quota',
  'rate_limited',
  'unavailable',
  'timeout',
])

/** The models that may answer a turn, in order. The first answers until it fails, then the next takes over for good. */
export function createChatModels(models: readonly ChatModel[]) {
  let place = 0
  const failed: FailedModel[] = []

  function current(): ChatModel {
    const model = models[place]
    if (model === undefined) throw new TypeError('a turn needs a chat model')
    return model
  }

  return {
    current,
    /** The models that failed so far, and why. */
    failed: failed as readonly FailedModel[],
    /** Moves on to the next model. False if there is none, or if the failure is not one of the service. */
    fallBack(error: unknown): boolean {
      const isPassedOn = error instanceof ModelError && PASSED_ON.has(error.kind)
      if (!isPassedOn || error instanceof AllowanceSpent || place + 1 >= models.length) return false
      failed.push({ model: { ...current().text.id }, kind: error.kind })
      place += 1
      return true
    },
  }
}
