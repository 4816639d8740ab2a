import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { TextModel } from '../../src/model/port.ts'
import { createModelHolder } from '../../src/model/service.ts'
import { muLaw } from '../../src/phone/call/codec.ts'
import { sessionOpening } from '../../src/phone/call/session-config.ts'
import { connectModel } from '../../src/phone/connect-model.ts'
import type { FitCall } from '../../src/phone/spoken/session.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { toneFor } from '../doubles/model/wav.ts'
import { quantile, round } from './statistics.ts'

const FRAME_BYTES = 160
const SILENCE = Buffer.alloc(6_000, 0xff)
const SENTENCES = 20
const WARM_TURNS = 5

/**
 * What a call by transcription and speech adds to its models, against doubles that answer at once over HTTP: how
 * soon the first sentence is heard, and how long the work holds up the frames of the caller.
 */
export async function benchSpokenCall({ turns }: { readonly turns: number }) {
  const double = await startModelDouble({ validate: false, record: false })
  const speechOfSentence = toneFor('This is sentence number 10.')
  double.speakWith(() => speechOfSentence)
  const question = readFileSync(new URL('../audio/caller-question.ulaw', import.meta.url))
  const { speech } = createModelHolder({
    OPENAI_BASE_URL: double.url,
    TRANSCRIPTION_MODEL: 'ears',
    SPEECH_MODEL: 'voice',
  }).current()
  if (!speech) throw new TypeError('the service has no speech')
  let writtenMs = 0
  const text: TextModel = {
    id: { provider: 'bench', model: 'bench' },
    async *respond() {
      const sentences = Array.from({ length: SENTENCES }, (_, at) => `This is sentence number ${at}. `)
      writtenMs = performance.now()
      for (const sentence of sentences) yield { type: 'text.delta', text: sentence }
      const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 }
      yield {
        type: 'completed',
        text: sentences.join(''),
        toolCalls: [],
        usage,
        responseId: null,
        blob: null,
      }
    },
  }
  const seen = new Map<string, number>()
  let done = Promise.withResolvers<void>()
  const connect = connectModel(
    { by: 'speech', speech },
    {
      ...{
        text: () => text,
        party: 'owner',
        language: 'en',
        toolOf: () => undefined,
        fit: async (request: Parameters<FitCall>[0]) => request,
      },
      delimit: (label, words) => `${label}: ${words}`,
      use: { purpose: 'call', channel: 'voice' },
      codec: muLaw,
      timezone: () => 'UTC',
      nowMs: Date.now,
      failed: done.reject,
    },
  )
  const socket = connect({
    opened: () => undefined,
    message(message) {
      const { type } = JSON.parse(message) as { type: string }
      if (!seen.has(type)) seen.set(type, performance.now())
      if (type === 'response.done') done.resolve()
    },
    closed: () => undefined,
  })
  const send = (event: object) => socket.send(JSON.stringify(event))
  const plan = { instructions: '', history: [], tools: [], voice: 'marin', transcriptionModel: 'ears' }
  for (const event of sessionOpening(plan, muLaw)) send(event)

  const afterSentence: number[] = []
  const afterCaller: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (let turn = 0; turn < turns + WARM_TURNS; turn += 1) {
    if (turn === WARM_TURNS) delay.enable()
    seen.clear()
    done = Promise.withResolvers()
    const said = Buffer.concat([question, SILENCE])
    for (let at = 0; at < said.length; at += FRAME_BYTES) {
      send({ type: 'input_audio_buffer.append', audio: said.toString('base64', at, at + FRAME_BYTES) })
      if (at % (20 * FRAME_BYTES) === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await done.promise
    if (turn < WARM_TURNS) continue
    const heardMs = seen.get('response.output_audio.delta') ?? Number.NaN
    afterSentence.push(heardMs - writtenMs)
    afterCaller.push(heardMs - (seen.get('input_audio_buffer.speech_stopped') ?? Number.NaN))
  }
  delay.disable()
  socket.close()
  await double.close()
  return {
    turns,
    sentencesATurn: SENTENCES,
    sentenceToSpeechP50Ms: round(quantile(afterSentence, 0.5)),
    sentenceToSpeechP99Ms: round(quantile(afterSentence, 0.99)),
    callerToSpeechP50Ms: round(quantile(afterCaller, 0.5)),
    // The histogram counts the millisecond that it sleeps.
    loopHeldP99Ms: round(delay.percentile(99) / 1e6 - 1),
    loopHeldMaxMs: round(delay.max / 1e6 - 1),
  }
}
