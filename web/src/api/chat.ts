import { type LiveCall, parseLiveCall } from './calls.ts'
import { asObject, optionalString, parseJson, stringField } from './json.ts'
import { type Problem, parseProblem } from './problem.ts'
import { parseEvent, parsePage, type TimelineEvent, type TimelinePage } from './timeline.ts'

/** Messages from this page on the socket. */
export type ClientMessage =
  | { readonly type: 'chat.message'; readonly content: string; readonly clientMessageId: string }
  | { readonly type: 'chat.stop' }
  | { readonly type: 'history.more'; readonly cursor: string }
  | { readonly type: 'conversation.end'; readonly conversationId?: string }

/** Messages from the service on the socket. */
export type ServerMessage =
  | { readonly type: 'history.page'; readonly mode: 'initial' | 'prepend'; readonly page: TimelinePage }
  | { readonly type: 'timeline.event'; readonly event: TimelineEvent }
  | { readonly type: 'call.live'; readonly call: LiveCall | null }
  | { readonly type: 'chat.working'; readonly turnId: string }
  | { readonly type: 'chat.delta'; readonly turnId: string; readonly text: string }
  | { readonly type: 'chat.response'; readonly turnId: string; readonly content: string }
  | { readonly type: 'chat.done'; readonly turnId: string }
  | {
      readonly type: 'chat.error'
      readonly turnId: string | null
      readonly clientMessageId: string | null
      readonly problem: Problem
    }

/** Null for an unknown message type. Throws UnexpectedAnswer if malformed. */
export function parseServerMessage(text: string): ServerMessage | null {
  const object = asObject(parseJson(text, 'socket message'), 'socket message')
  const turnId = () => stringField(object, 'turnId')
  switch (object.type) {
    case 'history.page':
      return {
        type: 'history.page',
        mode: object.mode === 'prepend' ? 'prepend' : 'initial',
        page: parsePage(object.page),
      }
    case 'timeline.event':
      return { type: 'timeline.event', event: parseEvent(object.event) }
    case 'call.live':
      return { type: 'call.live', call: parseLiveCall(object.call) }
    case 'chat.working':
      return { type: 'chat.working', turnId: turnId() }
    case 'chat.delta':
      return { type: 'chat.delta', turnId: turnId(), text: stringField(object, 'text') }
    case 'chat.response':
      return { type: 'chat.response', turnId: turnId(), content: stringField(object, 'content') }
    case 'chat.done':
      return { type: 'chat.done', turnId: turnId() }
    case 'chat.error':
      return {
        type: 'chat.error',
        turnId: optionalString(object, 'turnId'),
        clientMessageId: optionalString(object, 'clientMessageId'),
        problem: parseProblem(object.problem, 500),
      }
    default:
      return null
  }
}
