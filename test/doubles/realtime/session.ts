import { muLaw, pcm } from '../../../src/phone/call/codec.ts'
import { createVoiceActivity } from './voice-activity.ts'

export type ClientMessage = { readonly type: string; readonly [field: string]: unknown }

/** A scripted response: speech in mu-law, tool calls, or both. `fail` ends it as failed. */
export type ScriptedReply = {
  readonly audio?: Uint8Array
  readonly transcript?: string
  readonly toolCalls?: readonly {
    readonly callId: string
    readonly name: string
    readonly arguments: string
  }[]
  readonly fail?: boolean
  /** How long the arguments of the tool calls are streamed. */
  readonly argumentsMs?: number
}

export type Script = {
  /** The nth reply of all sessions, from 0. `asked` names who requested it. */
  reply(turn: {
    readonly index: number
    readonly asked: 'caller' | 'client'
    readonly instructions: string
  }): ScriptedReply
  /** The transcript of the nth utterance, from 0. Null fails the transcription. */
  words(index: number): string | null
  /** Audio per delta, and the pause between deltas. A real service is faster than speech. */
  readonly deltaMs?: number
  readonly deltaEveryMs?: number
  /** The delay of the transcript after the utterance. */
  readonly wordsAfterMs?: number
  /** The output format that the service echoes. */
  readonly outputFormat?: string
  readonly counters: { replies: number; utterances: number }
}

type Item = { readonly id: string; audioMs: number }

export type RealtimeSession = ReturnType<typeof createRealtimeSession>

const LIFETIME_S = 3_600
const ARGUMENTS_EVERY_MS = 50

/** One session of the double: a conversation, a voice activity detector and at most one response. */
export function createRealtimeSession(options: {
  readonly number: number
  readonly script: Script
  readonly send: (event: Record<string, unknown>) => void
  readonly problem: (text: string) => void
}) {
  const { script, number } = options
  const items: Item[] = []
  const timers = new Set<NodeJS.Timeout>()
  let stopped = false
  let events = 0
  let ids = 0
  let settings: Record<string, unknown> | null = null
  let activity = createVoiceActivity({ silenceMs: 500, paddingMs: 300 })
  let interrupts = true
  let codec = muLaw
  let speechItem = ''
  let response: { id: string; cancel: (reason: 'turn_detected' | 'client_cancelled') => void } | null = null

  const send = (type: string, fields: Record<string, unknown>) => {
    if (stopped) return
    events += 1
    options.send({ type, event_id: `event_${number}_${events}`, ...fields })
  }
  const newId = (prefix: string) => {
    ids += 1
    return `${prefix}_${number}_${ids}`
  }
  const later = (ms: number, fn: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      if (!stopped) fn()
    }, ms)
    timers.add(timer)
  }
  const complain = (code: string, message: string, eventId: unknown = null) => {
    const error = { type: 'invalid_request_error', code, message, param: null, event_id: eventId }
    send('error', { error })
  }
  const refuse = (code: string, message: string, event: ClientMessage) => {
    options.problem(`${event.type}: ${message}`)
    complain(code, message, event.event_id ?? null)
  }
  const addItem = (id: string) => {
    const previous = items.at(-1)?.id ?? null
    const item = { id, audioMs: 0 }
    items.push(item)
    return { item, previous }
  }

  const sessionObject = () => ({
    id: `sess_${number}`,
    object: 'realtime.session',
    expires_at: Math.floor(Date.now() / 1000) + LIFETIME_S,
    ...(settings ?? { type: 'realtime', model: 'double' }),
  })

  const update = (event: ClientMessage) => {
    settings = { ...settings, ...(event.session as Record<string, unknown>) }
    const audio = settings.audio as {
      input: {
        format: { type: string }
        turn_detection: {
          silence_duration_ms: number
          prefix_padding_ms: number
          interrupt_response: boolean
        }
      }
      output: { format: { type: string } }
    }
    const detection = audio.input.turn_detection
    codec = audio.input.format.type === 'audio/pcm' ? pcm : muLaw
    interrupts = detection.interrupt_response
    activity = createVoiceActivity({
      silenceMs: detection.silence_duration_ms,
      paddingMs: detection.prefix_padding_ms,
    })
    const output = { ...audio.output, format: { type: script.outputFormat ?? audio.output.format.type } }
    send('session.updated', { session: { ...sessionObject(), audio: { ...audio, output } } })
  }

  const hear = (audio: Buffer) => {
    if (settings === null) {
      options.problem('audio before the session was configured')
      return
    }
    for (const { type, atMs } of activity.feed(codec === pcm ? toMuLaw(audio) : audio)) {
      if (type === 'started') {
        speechItem = newId('item')
        send('input_audio_buffer.speech_started', { audio_start_ms: atMs, item_id: speechItem })
        if (interrupts) response?.cancel('turn_detected')
      } else {
        send('input_audio_buffer.speech_stopped', { audio_end_ms: atMs, item_id: speechItem })
        commit(speechItem)
      }
    }
  }
  const commit = (id: string) => {
    const { previous } = addItem(id)
    send('input_audio_buffer.committed', { item_id: id, previous_item_id: previous })
    const heard = {
      id,
      object: 'realtime.item',
      type: 'message',
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_audio' }],
    }
    send('conversation.item.added', { item: heard, previous_item_id: previous })
    send('conversation.item.done', { item: heard, previous_item_id: previous })
    const index = script.counters.utterances++
    later(script.wordsAfterMs ?? 20, () => transcribe(id, script.words(index)))
    respond('caller', instructionsOf(settings))
  }
  const transcribe = (id: string, transcript: string | null) => {
    const type = 'conversation.item.input_audio_transcription'
    const ofItem = { item_id: id, content_index: 0 }
    if (transcript === null) send(`${type}.failed`, { ...ofItem, error: { type: 'transcription_error' } })
    else send(`${type}.completed`, { ...ofItem, transcript, usage: { type: 'duration', seconds: 1 } })
  }

  const respond = (asked: 'caller' | 'client', instructions: string) => {
    const reply = script.reply({ index: script.counters.replies++, asked, instructions })
    const id = newId('resp')
    let over = false
    let speech: ReturnType<typeof speak> | null = null
    const finish = (status: string, details: Record<string, unknown>) => {
      if (over) return
      over = true
      response = null
      const output = [
        ...(speech ? [speech.end(status)] : []),
        ...(status === 'completed' ? callTools(id, reply) : []),
      ]
      const usage = {
        total_tokens: 30,
        input_tokens: 20,
        output_tokens: 10,
        input_token_details: { cached_tokens: 5, text_tokens: 10, audio_tokens: 10 },
        output_token_details: { text_tokens: 4, audio_tokens: 6 },
      }
      send('response.done', {
        response: {
          id,
          object: 'realtime.response',
          status,
          status_details: { type: status, ...details },
          output,
          usage,
        },
      })
    }
    response = { id, cancel: (reason) => finish('cancelled', { reason }) }
    send('response.created', {
      response: { id, object: 'realtime.response', status: 'in_progress', output: [] },
    })
    if (reply.fail) later(1, () => finish('failed', { error: { type: 'server_error', code: 'scripted' } }))
    else if (reply.audio)
      speech = speak(
        id,
        reply.audio,
        reply.transcript ?? '',
        () => over,
        () => finish('completed', {}),
      )
    else later(1, () => streamArguments(reply.argumentsMs ?? 0))

    function streamArguments(leftMs: number): void {
      if (leftMs <= 0) {
        finish('completed', {})
        return
      }
      if (over) return
      const at = { response_id: id, item_id: `${id}_call`, output_index: 1, call_id: `${id}_call` }
      send('response.function_call_arguments.delta', { ...at, delta: ' ' })
      later(ARGUMENTS_EVERY_MS, () => streamArguments(leftMs - ARGUMENTS_EVERY_MS))
    }
  }

  /** Sends audio and transcript in parallel until done or until the response is over. */
  const speak = (
    responseId: string,
    scripted: Uint8Array,
    transcript: string,
    isOver: () => boolean,
    done: () => void,
  ) => {
    const id = newId('item')
    const audio = codec === pcm ? toPcm(scripted) : scripted
    const { item, previous } = addItem(id)
    const message = (status: string, content: readonly unknown[]) => ({
      id,
      object: 'realtime.item',
      type: 'message',
      status,
      role: 'assistant',
      content,
    })
    const at = { response_id: responseId, output_index: 0 }
    const ofItem = { ...at, item_id: id, content_index: 0 }
    send('response.output_item.added', { ...at, item: message('in_progress', []) })
    send('conversation.item.added', { item: message('in_progress', []), previous_item_id: previous })
    send('response.content_part.added', { ...ofItem, part: { type: 'audio', transcript: '' } })
    const stepBytes = (script.deltaMs ?? 100) * codec.bytesPerMs
    let sent = 0
    let said = 0
    const next = () => {
      if (isOver()) return
      // The transcript runs ahead of the audio, as in a real service.
      const upTo = Math.ceil(
        (transcript.length * Math.min(audio.length, sent + 2 * stepBytes)) / audio.length,
      )
      if (upTo > said)
        send('response.output_audio_transcript.delta', { ...ofItem, delta: transcript.slice(said, upTo) })
      said = Math.max(said, upTo)
      const piece = audio.subarray(sent, sent + stepBytes)
      sent += piece.length
      item.audioMs = sent / codec.bytesPerMs
      send('response.output_audio.delta', { ...ofItem, delta: Buffer.from(piece).toString('base64') })
      if (sent < audio.length) later(script.deltaEveryMs ?? 5, next)
      else later(1, done)
    }
    later(1, next)
    return {
      end(status: string) {
        const complete = message(status === 'completed' ? 'completed' : 'incomplete', [
          { type: 'output_audio', transcript: transcript.slice(0, said) },
        ])
        send('response.output_audio_transcript.done', { ...ofItem, transcript: transcript.slice(0, said) })
        send('response.output_audio.done', ofItem)
        send('response.output_item.done', { ...at, item: complete })
        send('conversation.item.done', { item: complete, previous_item_id: previous })
        return complete
      },
    }
  }

  const callTools = (responseId: string, reply: ScriptedReply) =>
    (reply.toolCalls ?? []).map(({ callId, name, arguments: given }, index) => {
      const { previous, item } = addItem(newId('item'))
      const call = {
        id: item.id,
        object: 'realtime.item',
        type: 'function_call',
        status: 'completed',
        call_id: callId,
        name,
        arguments: given,
      }
      const at = { response_id: responseId, output_index: index + 1 }
      send('response.output_item.added', { ...at, item: { ...call, status: 'in_progress', arguments: '' } })
      send('conversation.item.added', { item: call, previous_item_id: previous })
      const fields = { item_id: item.id, call_id: callId, name, arguments: given }
      send('response.function_call_arguments.done', { ...at, ...fields })
      send('response.output_item.done', { ...at, item: call })
      send('conversation.item.done', { item: call, previous_item_id: previous })
      return call
    })

  const receive = (event: ClientMessage) => {
    if (stopped) return
    switch (event.type) {
      case 'session.update':
        update(event)
        break
      case 'input_audio_buffer.append':
        hear(Buffer.from(String(event.audio), 'base64'))
        break
      case 'response.create':
        if (response) {
          const busy = `${response.id} is active`
          refuse('conversation_already_has_active_response', busy, event)
        } else {
          respond('client', instructionsOf(event.response) || instructionsOf(settings))
        }
        break
      case 'response.cancel':
        if (response) response.cancel('client_cancelled')
        else complain('response_cancel_not_active', 'nothing is active', event.event_id ?? null)
        break
      case 'conversation.item.create': {
        const { item, previous } = addItem(newId('item'))
        const created = {
          ...(event.item as object),
          id: item.id,
          object: 'realtime.item',
          status: 'completed',
        }
        send('conversation.item.added', { item: created, previous_item_id: previous })
        send('conversation.item.done', { item: created, previous_item_id: previous })
        break
      }
      case 'conversation.item.truncate': {
        const item = items.find((known) => known.id === event.item_id)
        const endMs = Number(event.audio_end_ms)
        if (!item || endMs <= 0 || endMs > item.audioMs) {
          refuse('invalid_value', `audio of ${item?.audioMs ?? 0} ms, truncated at ${endMs}`, event)
          break
        }
        item.audioMs = endMs
        send('conversation.item.truncated', { item_id: item.id, content_index: 0, audio_end_ms: endMs })
        break
      }
      case 'conversation.item.delete': {
        const index = items.findIndex((known) => known.id === event.item_id)
        if (index < 0) refuse('item_not_found', `no item ${String(event.item_id)}`, event)
        else {
          items.splice(index, 1)
          send('conversation.item.deleted', { item_id: event.item_id })
        }
        break
      }
      default:
        refuse('unknown_event', 'not known', event)
    }
  }

  send('session.created', { session: sessionObject() })
  return {
    receive,
    complain: (code: string, message: string) => complain(code, message),
    stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}

/** Those of a response replace those of its session. */
const instructionsOf = (of: unknown) => (of as { instructions?: string } | undefined)?.instructions ?? ''

/** Three samples of PCM are one of mu-law. */
const STEP = pcm.rate / muLaw.rate

export function toMuLaw(audio: Buffer): Buffer {
  const samples = pcm.decode(audio)
  return muLaw.encode(
    Float32Array.from({ length: Math.floor(samples.length / STEP) }, (_, at) => samples[at * STEP] ?? 0),
  )
}

export function toPcm(audio: Uint8Array): Buffer {
  const samples = muLaw.decode(audio)
  return pcm.encode(
    Float32Array.from({ length: samples.length * STEP }, (_, at) => samples[Math.floor(at / STEP)] ?? 0),
  )
}
