import type * as z from 'zod'
import { english } from '../language/message.ts'
import { toFunctionTool } from './completions/text.ts'
import { DATA_BLOCK_RULE } from './openai/data-block.ts'
import { withTimes } from './openai/input.ts'
import { toStrictSchema } from './openai/strict-schema.ts'
import { inWords } from './openai/structured.ts'
import {
  type ContextSize,
  ModelError,
  type StructuredModel,
  type StructuredRequest,
  type TextModel,
  type TextRequest,
  type ToolSpec,
} from './port.ts'
import { denseTokens, estimateItemTokens, estimateTokens, textOf } from './tokens.ts'

/** The tags around a data block, with their codes. */
const BLOCK_TOKENS = 48
/** What a chat template adds of its own: how to call tools, and the marks of roles. */
const TEMPLATE_TOKENS = 150

/** Estimates the tokens of the tools as they are sent. */
export function toolTokens(tools: readonly ToolSpec[], isBrief: boolean | undefined): number {
  if (tools.length === 0) return 0
  return estimateTokens(JSON.stringify(tools.map((tool) => toFunctionTool(tool, isBrief))))
}

/** Estimates the tokens of each item as it is sent: in its block, and with the time that goes before it. */
export function itemTokens(input: TextRequest['input']): number[] {
  const tokens: number[] = []
  let before = 0
  for (const item of withTimes({ input })) {
    if (item.type === 'time') {
      before += estimateTokens(item.text) + BLOCK_TOKENS
      continue
    }
    const isBlock = item.type === 'inner' || (item.type === 'message' && item.role === 'guest')
    const own = estimateItemTokens(item) + denseTokens(textOf(item))
    tokens.push(before + own + (isBlock ? BLOCK_TOKENS : 0))
    before = 0
  }
  return tokens
}

/** Estimates the tokens of what a request begins with. */
export function headTokens(
  { instructions, tools, isBrief }: Pick<TextRequest, 'instructions' | 'tools' | 'isBrief'>,
  { asSent = (text) => text }: Pick<TextModel, 'asSent'>,
): number {
  return TEMPLATE_TOKENS + estimateTokens(asSent(instructions)) + toolTokens(tools, isBrief)
}

/** What is left for the input of a structured request and its answer; null if there is plenty. */
export function roomOf(
  { context }: Pick<StructuredModel, 'context'>,
  { instructions, schema }: Pick<StructuredRequest<z.ZodType>, 'instructions' | 'schema'>,
): number | null {
  if (!context || context.tokens === null) return null
  const asked = `${instructions}\n${DATA_BLOCK_RULE}\n${inWords(toStrictSchema(schema))}`
  return context.tokens - TEMPLATE_TOKENS - estimateTokens(asked)
}

/** Estimates the tokens of an input as it is sent. */
export function estimateInput(input: TextRequest['input']): number {
  return itemTokens(input).reduce((total, each) => total + each, 0)
}

/**
 * Refuses a request that does not fit into the context, because a local server would cut it without saying so. Callers
 * stay within it; this is the last check.
 */
export function withinContext(model: TextModel, context: ContextSize): TextModel {
  return {
    ...model,
    respond(request, signal) {
      const { tokens } = context
      if (tokens !== null) refuseAbove(tokens, headTokens(request, model) + estimateInput(request.input))
      return model.respond(request, signal)
    },
  }
}

/** The same for structured answers. */
export function structuredWithin(model: StructuredModel, context: ContextSize): StructuredModel {
  return {
    ...model,
    context,
    async answer(request, signal) {
      await context.learn()
      const room = roomOf({ context }, request)
      if (room !== null) refuseAbove(room, estimateInput(request.input))
      return model.answer(request, signal)
    },
  }
}

function refuseAbove(room: number, needed: number): void {
  if (needed <= room) return
  const message = english`The request does not fit into the context: ${needed} tokens, where ${room} are left.`
  throw new ModelError('context_too_long', message)
}
