import { stream } from 'hono/streaming'
import type { AnyEvent } from '../../../ledger/reader.ts'
import { english } from '../../language/message.ts'
import { msg } from '../../language/msg.ts'
import { failureTextOf } from '../../model/failure-text.ts'
import { AllowanceSpent, ModelError, type Use } from '../../model/port.ts'
import { readAloud } from '../../phone/spoken/read-aloud.ts'
import { wavSeconds } from '../../phone/spoken/wav.ts'
import { MAX_MESSAGE_CHARS } from '../contract/chat.ts'
import { abilities, MAX_RECORDING_SECONDS, readReply, transcribe } from '../contract/speech.ts'
import type { RouteDeps } from '../features.ts'
import { goneSignal, type Routes } from '../server/env.ts'
import { conflict, invalidField, Refusal, unknown } from '../server/problem.ts'
import { turnRefusal } from './chat.ts'

/** Dictation, and replies read aloud. */
export function speechRoutes(routes: Routes, deps: RouteDeps): void {
  const { model, phone, stopping, storage, log } = deps

  function use(of: Pick<Use, 'conversationId' | 'spanId' | 'turnId'>): Use {
    return { purpose: 'speech', channel: 'chat', ...of }
  }

  routes.openapi(abilities, (c) => {
    const by = phone.talkCarriage()
    const ids = model().speech?.ids
    const talk = by === 'realtime' || by === 'speech' ? by : null
    return c.json({ talk, dictation: Boolean(ids?.transcription), readAloud: Boolean(ids?.speech) }, 200)
  })

  routes.openapi(transcribe, async (c) => {
    const { speech } = model()
    if (!speech?.ids.transcription) throw NO_TRANSCRIPTION
    const wav = Buffer.from(c.req.valid('json').audioBase64, 'base64')
    const seconds = wavSeconds(wav)
    if (seconds === null) throw invalidField('audioBase64', msg`must be a WAV file of 16-bit PCM`)
    if (seconds > MAX_RECORDING_SECONDS)
      throw invalidField('audioBase64', msg`must be at most ${MAX_RECORDING_SECONDS} seconds long`)
    const signal = AbortSignal.any([goneSignal(c), stopping])
    const conversationId = deps.openConversationId() ?? null
    const of = { use: use({ conversationId }), seconds }
    const words = await askSpeech(() => speech.transcribe(wav, 'wav', signal, of))
    return c.json({ text: words.trim().slice(0, MAX_MESSAGE_CHARS) }, 200)
  })

  routes.openapi(readReply, async (c) => {
    const { speech } = model()
    if (!speech?.ids.speech) throw NO_SPEECH
    const [event] = storage.ledger.readSeqs([c.req.valid('param').seq])
    const text = event && wordsOf(event)
    if (!event || text === null || text === undefined) throw unknown('message')
    if (text === '') throw conflict('erased', msg`The message was erased, so it cannot be read aloud.`)
    const signal = AbortSignal.any([goneSignal(c), stopping])
    const { conversationId, spanId, turnId } = event
    const audio = readAloud(text, { speech, use: use({ conversationId, spanId, turnId }), signal })
    const first = await askSpeech(() => audio.next())
    if (first.done) throw conflict('nothing_to_read', msg`The message has no words to read aloud.`)
    c.header('content-type', 'audio/wav')
    return stream(
      c,
      async (out) => {
        await out.write(first.value)
        for await (const piece of audio) await out.write(piece)
      },
      // The status is sent, so the audio just ends.
      async (error) => {
        if (!signal.aborted) log.warn({ err: error }, 'A reply could not be read to its end')
      },
    ) as never
  })
}

/** What the delegate said in a message, empty once erased; null for any other event. */
function wordsOf(event: AnyEvent): string | null {
  switch (event.type) {
    case 'chat.reply.sent':
    case 'chat.reply.stopped':
    case 'call.reply.spoken':
    case 'sms.sent':
      return event.body?.text ?? ''
    default:
      return null
  }
}

const NO_TRANSCRIPTION = new Refusal(
  503,
  'no_transcription_model',
  english`No model writes down what you say. Choose one in Settings → Model services.`,
)
const NO_SPEECH = new Refusal(
  503,
  'no_speech_model',
  english`No model reads aloud. Choose one in Settings → Model services.`,
)

/** Turns a failure of the speech service into a 502, and a spent allowance into a 429. */
export async function askSpeech<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof AllowanceSpent) throw turnRefusal({ kind: 'allowance', text: error.message })
    if (!(error instanceof ModelError)) throw error
    throw new Refusal(502, `model_${error.kind}`, failureTextOf(error.kind, error), { cause: error })
  }
}
