import type { App } from '../app/app.ts'
import { msg } from '../design/msg.ts'
import { microphoneLost, openMicrophone } from './audio.ts'
import { explainMissing, explainVoice } from './explain-voice.ts'

/** What transcription models work with. */
const rate = 16_000
/** The longest recording that the service takes. */
const longestMs = 180_000

export type Dictation = {
  /** Ends the recording. `text` resolves to its words. */
  stop(): void
  /** The words; null if there are none, it was cancelled, or something failed, which is explained. */
  readonly text: Promise<string | null>
}

/**
 * Records what the owner says until it is stopped, and has it written down. Calls `changed` at each step. `signal`
 * cancels it: the recording is dropped, and nothing more is reported.
 */
export function startDictation(
  app: App,
  signal: AbortSignal,
  changed: (state: 'recording' | 'writing') => void,
): Dictation {
  const stopped = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => stopped.resolve())

  async function run(): Promise<string | null> {
    const { dictation } = await app.http.get('/api/speech', { signal })
    if (!dictation) {
      explainMissing(app, msg`No model writes down what you say. Choose one in Settings → Model services.`)
      return null
    }
    const frames: ArrayBuffer[] = []
    const heard = Promise.withResolvers<void>()
    const microphone = await openMicrophone(rate, (frame) => {
      frames.push(frame)
      heard.resolve()
    })
    const timer = setTimeout(stopped.resolve, longestMs)
    void microphone.lost.then(() => {
      app.toast(microphoneLost, 'warning')
      stopped.resolve()
    })
    // What is said before the first sound arrives would be lost.
    await Promise.race([heard.promise, stopped.promise])
    if (!signal.aborted) {
      changed('recording')
      app.announce(msg`Dictation started`)
    }
    await stopped.promise
    clearTimeout(timer)
    microphone.close()
    if (signal.aborted || frames.length === 0) return null
    changed('writing')
    app.announce(msg`Dictation stopped`)
    const audioBase64 = await base64Of(new Blob([wavHeader(frames), ...frames]))
    const { text } = await app.http.post('/api/speech/transcriptions', { body: { audioBase64 }, signal })
    if (text === '')
      app.toast(msg`Nothing was heard. Speak closer to the microphone, and try again.`, 'warning')
    return signal.aborted || text === '' ? null : text
  }

  return {
    stop: stopped.resolve,
    text: run().catch((error: unknown) => {
      if (!signal.aborted) explainVoice(app, error)
      return null
    }),
  }
}

async function base64Of(blob: Blob): Promise<string> {
  const reader = new FileReader()
  const done = new Promise((resolve) => reader.addEventListener('loadend', resolve, { once: true }))
  reader.readAsDataURL(blob)
  await done
  return String(reader.result).replace(/^[^,]*,/, '')
}

/** The header of a WAV file of 16-bit PCM, mono. */
function wavHeader(frames: readonly ArrayBuffer[]): ArrayBuffer {
  const bytes = frames.reduce((sum, frame) => sum + frame.byteLength, 0)
  const header = new DataView(new ArrayBuffer(44))
  const word = (at: number, text: string) => {
    for (const [index, letter] of [...text].entries()) header.setUint8(at + index, letter.charCodeAt(0))
  }
  word(0, 'RIFF')
  header.setUint32(4, 36 + bytes, true)
  word(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, rate, true)
  header.setUint32(28, rate * 2, true)
  header.setUint16(32, 2, true)
  header.setUint16(34, 16, true)
  word(36, 'data')
  header.setUint32(40, bytes, true)
  return header.buffer
}
