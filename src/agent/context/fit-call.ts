import type { ChatModel, InputItem, TextRequest } from '../../model/port.ts'
import type { Tool } from '../../model/tool.ts'
import { cutItem } from './cut.ts'
import { fitHistory, fitRound, historyRoom } from './fit.ts'
import { profileOf } from './profile.ts'

export type CallRequest = Pick<TextRequest, 'instructions' | 'timezone'> & {
  readonly input: readonly InputItem[]
  readonly tools: readonly Tool[]
}

/**
 * A request of a call within the context of the model that answers it: the newest part of what was said, and the
 * tools as they fit. The same request where nothing is limited.
 */
export async function fitCall(
  { text, context }: ChatModel,
  request: CallRequest,
): Promise<Omit<TextRequest, 'now' | 'use'>> {
  if (context) await context.learn()
  const profile = profileOf(context?.tokens ?? null)
  if (!profile) return request
  const turn = { request, profile, model: text }
  // The last words, and the calls and results since, stay together, as in a turn of the chat.
  const last = Math.max(
    0,
    request.input.findLastIndex(({ type }) => type === 'message'),
  )
  const words = request.input.slice(last, last + 1).map((item) => cutItem(item, profile.itemTokens))
  const said = request.input.slice(0, last).map((item) => ({ item, seqs: [], foreign: false }))
  const kept = fitHistory(said, historyRoom(turn, words), profile)
  const input = [...kept.map(({ item }) => item), ...words]
  return fitRound(turn, input, request.input.slice(last + 1))
}
