import { type Language, translateTo } from '../../language/languages.ts'
import { english } from '../../language/message.ts'
import {
  innerLabels,
  NO_USAGE,
  type TextEvent,
  type TextModel,
  type TextRequest,
  type Use,
} from '../../model/port.ts'
import type { Tool } from '../../model/tool.ts'
import type { ConnectModel } from '../call/ports.ts'
import type { ClientEvent } from '../call/realtime-protocol.ts'
import { createConversation, createDataReader, type Placed } from './conversation.ts'
import type { CreateEars, Mouth } from './ports.ts'
import { type SpokenReply, startReply } from './reply.ts'

const NOT_UNDERSTOOD = english`Sorry, I did not catch that.`
const PATIENCE = english`One moment, please.`

/** A request of a call as it is sent: what does not fit into the context of the model is left out. */
export type FitCall = (
  request: Pick<TextRequest, 'instructions' | 'input' | 'timezone'> & { readonly tools: readonly Tool[] },
) => Promise<Omit<TextRequest, 'now' | 'use'>>

export type SpokenSessionOptions = {
  readonly text: () => TextModel
  readonly createEars: CreateEars
  readonly mouth: Mouth
  /** How long a piece of speech plays. */
  readonly lengthMs: (piece: string) => number
  readonly party: 'owner' | 'guest'
  /** What delimits data in this call. */
  readonly delimit: (label: string, text: string) => string
  /** A tool by its name, for those that the session is given. */
  readonly toolOf: (name: string) => Tool | undefined
  /** Keeps a request within the context of the model. */
  readonly fit: FitCall
  readonly use: Use
  readonly timezone: () => string
  /** Of what it says by itself. */
  readonly language: Language
  /** Wall time. */
  readonly nowMs: () => number
  /** How long to wait for recalled memories, which arrive as data, before answering; 0 for no wait. */
  readonly recallMs: number
  /** A request failed. The call itself retries the reply or apologises. */
  readonly failed: (error: unknown) => void
}

/**
 * A realtime service inside this process, for one call: ears, a text model and a mouth behind the subset of the
 * realtime protocol that a call uses. It takes turns as the service does: the caller's voice cancels a reply, and
 * their words are answered without a request.
 */
export function createSpokenSession(options: SpokenSessionOptions): ConnectModel {
  let sessions = 0
  const callIds = new Set<string>()
  return (handlers) => {
    sessions += 1
    let isOpen = true
    // Events are delivered after `send` returns, as over a socket.
    const later = (report: () => void) => queueMicrotask(() => isOpen && report())
    const session = openSession(options, sessions, callIds, (event) =>
      later(() => handlers.message(JSON.stringify(event))),
    )
    later(handlers.opened)
    return {
      send: (text) => isOpen && session.receive(JSON.parse(text) as ClientEvent),
      close() {
        if (!isOpen) return
        isOpen = false
        session.close()
        queueMicrotask(() => handlers.closed('the call closed it'))
      },
      bufferedBytes: 0,
    }
  }
}

/** The kind of utterance that still needs a reply. */
type Owed = 'words' | 'unclear' | 'noise'

function openSession(
  options: SpokenSessionOptions,
  number: number,
  /** Those of all sessions of the call. */
  callIds: Set<string>,
  send: (event: Readonly<Record<string, unknown>>) => void,
) {
  const { party: role, lengthMs, language } = options
  const conversation = createConversation({ role, readData: createDataReader(options.delimit) })
  let ids = 0
  let instructions = ''
  let tools: readonly Tool[] = []
  let reply: SpokenReply | null = null
  /** The item that the caller is speaking now. */
  let speaking: string | null = null
  /** Items whose words are still to come, oldest first. */
  const awaited: string[] = []
  let owed: Owed | null = null
  /** The caller interrupted a reply, and no other has begun since. */
  let wasInterrupted = false
  let pause: NodeJS.Timeout | undefined

  const newId = (prefix: string) => `${prefix}_${number}_${++ids}`
  const emit = (type: string, fields: Readonly<Record<string, unknown>>) =>
    send({ type, event_id: newId('event'), ...fields })
  const added = ({ id, previous }: Placed, item: object) =>
    emit('conversation.item.added', { item: { id, ...item }, previous_item_id: previous })
  const refuse = (code: string, message: string, { event_id = null }: { event_id?: string | null }) =>
    emit('error', { error: { type: 'invalid_request_error', code, message, param: null, event_id } })

  const ears = options.createEars({
    started() {
      speaking = newId('item')
      emit('input_audio_buffer.speech_started', { item_id: speaking })
      if (reply) wasInterrupted = true
      reply?.cancel('turn_detected')
    },
    stopped() {
      if (speaking === null) return
      const placed = conversation.addHeard(speaking)
      speaking = null
      awaited.push(placed.id)
      emit('input_audio_buffer.speech_stopped', { item_id: placed.id })
      emit('input_audio_buffer.committed', { item_id: placed.id, previous_item_id: placed.previous })
      added(placed, { type: 'message', role: 'user', content: [{ type: 'input_audio' }] })
    },
    heard(words) {
      const item_id = awaited.shift()
      if (item_id === undefined) return
      const transcript = words?.trim() ?? ''
      conversation.setHeard(item_id, transcript)
      const type = 'conversation.item.input_audio_transcription'
      if (words === null) emit(`${type}.failed`, { item_id, content_index: 0, error: { type: 'unclear' } })
      else emit(`${type}.completed`, { item_id, content_index: 0, transcript })
      if (transcript !== '') owed = 'words'
      else if (words === null && owed !== 'words') owed = 'unclear'
      else owed ??= 'noise'
      if (owed !== 'words' || options.recallMs === 0) return replyToCaller()
      clearTimeout(pause)
      pause = setTimeout(replyToCaller, options.recallMs)
    },
  })

  function replyToCaller(): void {
    if (owed === null || speaking !== null || awaited.length > 0 || reply) return
    // Silence after an interrupted reply would confuse the caller.
    const asksAgain = owed === 'unclear' || wasInterrupted
    if (owed === 'words' || conversation.hasResults()) respond(instructions)
    else start(() => canned(asksAgain ? translateTo(language, NOT_UNDERSTOOD) : ''))
  }

  /** Lets the model speak. */
  function respond(instructed: string): void {
    start(async function* (signal) {
      const request = await options.fit({
        instructions: instructed,
        input: withTurn(conversation.input()),
        tools,
        timezone: options.timezone(),
      })
      const now = new Date(options.nowMs()).toISOString()
      yield* options.text().respond({ ...request, now, use: options.use }, signal)
    })
  }

  function start(answer: (signal: AbortSignal) => AsyncIterable<TextEvent>): void {
    clearTimeout(pause)
    owed = null
    wasInterrupted = false
    reply = startReply({
      ...{ answer, mouth: options.mouth, lengthMs, conversation, newId, emit, failed: options.failed },
      patience: `${translateTo(language, PATIENCE)} `,
      called,
      ended() {
        reply = null
        replyToCaller()
      },
    })
  }

  function called({ text, toolCalls, blob }: Extract<TextEvent, { type: 'completed' }>, response_id: string) {
    if (toolCalls.length === 0) return []
    // Some servers restart the numbering of calls with each answer. Other ids stay, because the blob repeats them.
    const isRepeated = toolCalls.some(({ callId }) => callIds.has(callId))
    const calls = isRepeated ? toolCalls.map((call) => ({ ...call, callId: newId('call') })) : toolCalls
    for (const { callId } of calls) callIds.add(callId)
    // Lets the model continue its reasoning once the results arrive. A blob with words would repeat them.
    const thought = text.trim() === '' && !isRepeated ? blob : null
    if (thought !== null)
      conversation.addContext(newId('item'), [{ type: 'opaque', model: options.text().id, blob: thought }])
    return calls.map((call, index) => {
      const placed = conversation.addContext(newId('item'), [{ type: 'tool_call', ...call }])
      const { callId: call_id, name, arguments: given } = call
      const item = { type: 'function_call', status: 'completed', call_id, name, arguments: given }
      const { id } = placed
      emit('response.output_item.added', { response_id, output_index: index + 1, item: { id, ...item } })
      added(placed, item)
      return { id, ...item }
    })
  }

  type Received<T extends ClientEvent['type']> = Extract<ClientEvent, { type: T }>
  const receivers: { readonly [T in ClientEvent['type']]?: (event: Received<T>) => void } = {
    'session.update'({ session }) {
      if (session.type !== 'realtime') return
      instructions = session.instructions ?? instructions
      tools = (session.tools ?? []).flatMap((tool) =>
        tool.type === 'function' ? (options.toolOf(tool.name ?? '') ?? []) : [],
      )
      emit('session.updated', { session: { id: `sess_${number}`, object: 'realtime.session', ...session } })
    },
    'input_audio_buffer.append': ({ audio }) => ears.hear(audio),
    'conversation.item.create'({ item }) {
      const id = newId('item')
      if (item.type === 'function_call_output') {
        const { call_id, output } = item
        added(conversation.addContext(id, [{ type: 'tool_result', callId: call_id, output }]), item)
      } else if (item.type === 'message') {
        const text = item.content.map((part) => ('text' in part ? (part.text ?? '') : '')).join('')
        const by = item.role === 'assistant' ? 'assistant' : 'user'
        added(conversation.addText(id, by, text), item)
        replyToCaller()
      }
    },
    'conversation.item.truncate'(event) {
      wasInterrupted = true
      const fault = conversation.truncate(event.item_id, event.audio_end_ms)
      if (fault !== null) refuse('invalid_value', fault, event)
    },
    'conversation.item.delete'(event) {
      wasInterrupted = true
      if (!conversation.remove(event.item_id)) refuse('item_not_found', `no item ${event.item_id}`, event)
    },
    'response.create'(event) {
      if (reply) refuse('conversation_already_has_active_response', `${reply.id} is active`, event)
      else respond(event.response?.instructions ?? instructions)
    },
    'response.cancel'(event) {
      if (reply) reply.cancel('client_cancelled')
      else refuse('response_cancel_not_active', 'nothing is active', event)
    },
  }

  return {
    receive(event: ClientEvent): void {
      const receive = receivers[event.type] as ((event: ClientEvent) => void) | undefined
      if (receive) receive(event)
      else refuse('unknown_event', event.type, event)
    },
    close(): void {
      ears.close()
      clearTimeout(pause)
      owed = null
      reply?.cancel('client_cancelled')
    },
  }
}

/** Some models answer only if the last message is not their own. */
function withTurn(input: ReturnType<ReturnType<typeof createConversation>['input']>) {
  const last = input.at(-1)
  const isOwn =
    last === undefined || last.type === 'opaque' || (last.type === 'message' && last.role === 'delegate')
  if (!isOwn) return input
  return [...input, { type: 'inner' as const, label: innerLabels.phone, text: 'It is your turn to speak.' }]
}

async function* canned(text: string): AsyncGenerator<TextEvent> {
  if (text !== '') yield { type: 'text.delta', text }
  yield { type: 'completed', text, toolCalls: [], usage: NO_USAGE, responseId: null, blob: null }
}
