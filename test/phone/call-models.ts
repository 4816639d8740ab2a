import { setTimeout as wait } from 'node:timers/promises'
import { callPrompts } from '../../src/phone/call/prompts.ts'
import type { ModelDouble, RecordedRequest } from '../doubles/model/model-double.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { wavOf } from '../doubles/model/wav.ts'
import type { RealtimeDouble } from '../doubles/realtime/realtime-double.ts'
import type { Script } from '../doubles/realtime/session.ts'
import { linear } from '../doubles/realtime/voice-activity.ts'
import { DOUBLE_PRICES } from '../support/prices.ts'

/** The ways in which a call is carried. */
export const carriages = ['realtime', 'speech', 'relay'] as const
/** Those over a media stream. */
export const overMedia = ['realtime', 'speech'] as const
export type CarriageName = (typeof carriages)[number]

/** The daily tests try what all carriages share over the first alone. */
export const tagsOf = (carriage: CarriageName) => (carriage === 'realtime' ? [] : ['long'])

/** How the markup of a call begins that is carried in this way. */
export const opens: Readonly<Record<CarriageName, string>> = {
  realtime: '<Stream url="wss://delegate.example.com/call"',
  speech: '<Stream url="wss://delegate.example.com/call"',
  relay: '<ConversationRelay url="wss://delegate.example.com/relay"',
}

/** What a test asks about the models of a call, whichever way it is carried. */
export type CallModels = {
  /** Everything that they were given in words. */
  given(): string
  /** What the latest session began with. */
  opening(): string
  /** The tools of the first session. */
  tools(): readonly unknown[]
  readonly environment: Readonly<Record<string, string>>
}

export function realtimeModels({ received }: RealtimeDouble): CallModels {
  return {
    given: () => JSON.stringify(received),
    opening: () =>
      JSON.stringify(received.slice(received.findLastIndex(({ type }) => type === 'session.update'))),
    tools: () => (received[0] as { session?: { tools?: unknown[] } } | undefined)?.session?.tools ?? [],
    environment: { REALTIME_MODEL: 'test-realtime' },
  }
}

/** Lets the doubles of text, speech and transcription play the script of a realtime model. */
export function speechModels(text: ModelDouble, script: Script): CallModels {
  const { counters } = script
  const audio = new Map<string, Uint8Array>()
  const ofCalls: RecordedRequest[] = []
  const isOfCall = ({ body }: RecordedRequest) => String(body.instructions).includes('You are on the phone.')
  const isGreeting = ({ body }: RecordedRequest) => String(body.instructions).includes(callPrompts.greeting)

  text.answerWith((request) => {
    if (!isOfCall(request)) return { text: 'Yes.' }
    ofCalls.push(request)
    const asked = isGreeting(request) ? 'client' : 'caller'
    const instructions = String(request.body.instructions)
    const reply = script.reply({ index: counters.replies++, asked, instructions })
    if (reply.fail) return { fault: httpFaults.badRequest('scripted') }
    const sentences = (reply.transcript ?? '').split(/(?<=[.?!]) /)
    const each = Math.ceil((reply.audio?.length ?? 0) / sentences.length)
    for (const [index, sentence] of sentences.entries())
      if (reply.audio) audio.set(sentence, reply.audio.subarray(index * each, (index + 1) * each))
    return {
      text: reply.transcript ?? '',
      toolCalls: reply.toolCalls ?? [],
      usage: { inputTokens: 20, outputTokens: 10 },
    }
  })
  text.transcribeWith(async () => {
    const words = script.words(counters.utterances++)
    if (script.wordsAfterMs) await wait(script.wordsAfterMs)
    return words === null ? { fault: httpFaults.badRequest('scripted') } : { text: words }
  })
  text.speakWith((sentence) => {
    const spoken = audio.get(sentence) ?? Buffer.alloc(4_000, 0x55)
    // At three times the rate of the line, as a speech model speaks.
    return wavOf(
      Array.from({ length: 3 * spoken.length }, (_, at) => linear(spoken[Math.floor(at / 3)] ?? 0xff)),
    )
  })

  const words = (requests: readonly RecordedRequest[]) => requests.map((request) => request.text).join('\n')
  const prices = JSON.parse(DOUBLE_PRICES) as { models: Record<string, unknown> }
  const ears = { minute: 0.006 }
  const voice = { minute: 0.015 }
  return {
    given: () => words(ofCalls),
    opening: () => ofCalls.findLast(isGreeting)?.text ?? '',
    tools: () => (ofCalls[0]?.body.tools as unknown[] | undefined) ?? [],
    environment: {
      TRANSCRIPTION_MODEL: 'test-ears',
      SPEECH_MODEL: 'test-voice',
      PRICES: JSON.stringify({ models: { ...prices.models, 'test-ears': ears, 'test-voice': voice } }),
    },
  }
}

/** The same without ears and voice, which the telephony provider has. */
export function relayedModels(text: ModelDouble, script: Script): CallModels {
  return { ...speechModels(text, script), environment: { PHONE_CARRIAGE: 'relay' } }
}
