import { type OpenAiCore, usesResponses } from '../openai/core.ts'
import { createStructuredModel } from '../openai/structured.ts'
import { createTextModel } from '../openai/text.ts'
import { CapabilityMissing, type StructuredModel, type TextModel } from '../port.ts'
import { createCompletionsStructuredModel } from './structured.ts'
import { createCompletionsTextModel } from './text.ts'

/** Text turns over the API in use. A request that finds no Responses API goes on to chat completions. */
export function createEitherTextModel(core: OpenAiCore, model: string): TextModel {
  const responses = createTextModel(core, model)
  const completions = createCompletionsTextModel(core, model)
  return {
    id: responses.id,
    asSent: (instructions) =>
      (usesResponses(core) ? responses : completions).asSent?.(instructions) ?? instructions,
    async *respond(request, signal) {
      try {
        if (usesResponses(core)) return yield* responses.respond(request, signal)
      } catch (error) {
        throwUnlessFound(core, error)
      }
      yield* completions.respond(request, signal)
    },
  }
}

/** The same for structured answers. */
export function createEitherStructuredModel(core: OpenAiCore, model: string): StructuredModel {
  const responses = createStructuredModel(core, model)
  const completions = createCompletionsStructuredModel(core, model)
  return {
    id: responses.id,
    async answer(request, signal) {
      try {
        if (usesResponses(core)) return await responses.answer(request, signal)
      } catch (error) {
        throwUnlessFound(core, error)
      }
      return await completions.answer(request, signal)
    },
  }
}

/** Throws unless the error says that the server has no Responses API and the choice was left to us. */
function throwUnlessFound(core: OpenAiCore, error: unknown): void {
  const isFound = error instanceof CapabilityMissing && error.capability === 'responses'
  if (!isFound || usesResponses(core)) throw error
}
