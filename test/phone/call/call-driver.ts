import {
  type CallAction,
  type CallEvent,
  type CallFact,
  type CallLimits,
  type CallOptions,
  type CallState,
  defaultLimits,
} from '../../../src/phone/call/call-state.ts'
import { muLaw } from '../../../src/phone/call/codec.ts'
import { audioMedium } from '../../../src/phone/call/medium.ts'
import type { ClientEvent, ServerEvent } from '../../../src/phone/call/realtime-protocol.ts'
import { begin, step } from '../../../src/phone/call/turn-taking.ts'

type Output = Extract<ServerEvent, { type: 'response.done' }>['response']['output']
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** Base64 mu-law audio of this many bytes. */
export function audio(bytes: number, value = muLaw.silence): string {
  return Buffer.alloc(bytes, value).toString('base64')
}

export function callOptions(limits: Partial<CallLimits> = {}): CallOptions {
  return {
    callSid: 'CA1',
    streamSid: 'MZ1',
    medium: audioMedium,
    party: 'owner',
    greeting: 'Greet the owner.',
    resume: 'Say that the line broke.',
    checkIn: 'Ask whether anybody is there.',
    delimit: (label, text) => `<data label="${label}">${text}</data>`,
    phrases: {
      reconnecting: { text: 'Reconnecting.', media: audio(1_600, 201) },
      trouble: { text: 'Trouble.', media: audio(1_600, 202) },
      time_up: { text: 'Time is up.', media: audio(1_600, 203) },
      allowance: { text: 'No allowance.', media: audio(1_600, 204) },
      halted: { text: 'Halted.', media: audio(1_600, 205) },
    },
    limits: { ...defaultLimits, ...limits },
  }
}

export type Driver = ReturnType<typeof startCall>

/**
 * Drives a call's state machine by hand. Each method passes in one event and returns the resulting actions;
 * `all` collects them.
 */
export function startCall(options: CallOptions = callOptions()) {
  let atMs = 0
  let state: CallState
  const all: CallAction[] = []
  const first = begin(options, atMs)
  state = first.state
  all.push(...first.actions)

  const give = (event: Without<CallEvent, 'atMs'>): readonly CallAction[] => {
    const timed = { ...event, atMs } as CallEvent
    const result = step(state, timed)
    state = result.state
    all.push(...result.actions)
    return result.actions
  }
  const said = (event: ServerEvent, session = state.model.session) =>
    give({ type: 'model.said', session, event })
  const ofItem = (responseId: string, itemId: string) => ({
    response_id: responseId,
    item_id: itemId,
    content_index: 0,
  })
  const mu = { format: { type: 'audio/pcmu' } }

  const driver = {
    all: all as readonly CallAction[],
    state: () => state,
    now: () => atMs,
    give,
    said,
    /** Advances the clock and ticks. */
    after(ms: number) {
      atMs += ms
      return give({ type: 'tick' })
    },
    configured: (session?: number) =>
      said({ type: 'session.updated', session: { audio: { input: mu, output: mu } } }, session),
    created: (id: string) => said({ type: 'response.created', response: { id } }),
    delta: (responseId: string, itemId: string, bytes: number, value?: number) =>
      said({
        type: 'response.output_audio.delta',
        ...ofItem(responseId, itemId),
        delta: audio(bytes, value),
      }),
    text: (responseId: string, itemId: string, delta: string) =>
      said({ type: 'response.output_audio_transcript.delta', ...ofItem(responseId, itemId), delta }),
    audioDone: (responseId: string, itemId: string) =>
      said({ type: 'response.output_audio.done', ...ofItem(responseId, itemId) }),
    textDone: (responseId: string, itemId: string, transcript: string) =>
      said({ type: 'response.output_audio_transcript.done', ...ofItem(responseId, itemId), transcript }),
    done: (
      id: string,
      status: 'completed' | 'cancelled' | 'failed' | 'incomplete' = 'completed',
      output: Output = [],
    ) => said({ type: 'response.done', response: { id, status, output } }),
    speechStarted: () => said({ type: 'input_audio_buffer.speech_started' }),
    speechStopped: () => said({ type: 'input_audio_buffer.speech_stopped' }),
    committed: (itemId: string, previous: string | null = null) =>
      said({ type: 'input_audio_buffer.committed', item_id: itemId, previous_item_id: previous }),
    heard: (itemId: string, transcript: string) =>
      said({
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: itemId,
        transcript,
      }),
    /** The caller says something that is transcribed at once. */
    spoke(itemId: string, transcript: string) {
      driver.speechStarted()
      driver.speechStopped()
      driver.committed(itemId)
      driver.heard(itemId, transcript)
    },
    /** The model says something short, which is played. */
    answered(id: string) {
      driver.created(id)
      driver.delta(id, `i-${id}`, 160)
      driver.audioDone(id, `i-${id}`)
      const actions = driver.done(id)
      driver.playedAll()
      return actions
    },
    mark: (name: string) => give({ type: 'line.mark', name }),
    /** Returns every mark sent so far, oldest first. */
    playedAll() {
      const names = marks(all)
      for (const name of names) driver.mark(name)
    },
  }
  return driver
}

/** A call after its greeting was played, with nothing in progress. */
export function startQuietCall(options?: CallOptions): Driver {
  const call = startCall(options)
  call.configured()
  call.created('r0')
  call.delta('r0', 'i0', 160)
  call.textDone('r0', 'i0', 'Hello.')
  call.audioDone('r0', 'i0')
  call.done('r0')
  call.playedAll()
  return call
}

export function actionTypes(actions: readonly CallAction[]): CallAction['type'][] {
  return actions.map(({ type }) => type)
}

/** An item that calls a tool. */
export function toolCall(callId: string, status = 'completed'): Output[number] {
  return {
    id: `item-${callId}`,
    type: 'function_call',
    status,
    call_id: callId,
    name: 'look',
    arguments: '{}',
  }
}

export function marks(actions: readonly CallAction[]): string[] {
  return actions.flatMap((action) => (action.type === 'line.media' ? [action.mark] : []))
}

export function clears(actions: readonly CallAction[]): number {
  return actions.filter((action) => action.type === 'line.clear').length
}

export function mediaBytes(actions: readonly CallAction[]): number {
  return actions.reduce(
    (sum, a) => sum + (a.type === 'line.media' ? Buffer.from(a.payload, 'base64').length : 0),
    0,
  )
}

export function sent<T extends ClientEvent['type']>(
  actions: readonly CallAction[],
  type: T,
): Extract<ClientEvent, { type: T }>[] {
  return actions.flatMap((action) =>
    action.type === 'model.send' && action.event.type === type
      ? [action.event as Extract<ClientEvent, { type: T }>]
      : [],
  )
}

export function facts<T extends CallFact['type']>(
  actions: readonly CallAction[],
  type: T,
): Extract<CallFact, { type: T }>[] {
  return actions
    .flatMap((action) => (action.type === 'record' ? action.facts : []))
    .filter((fact): fact is Extract<CallFact, { type: T }> => fact.type === type)
}
