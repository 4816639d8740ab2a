import { voiced } from '../../text/plain.ts'
import { encodeWords } from '../call/medium.ts'
import type { CreateEars, Mouth } from '../spoken/ports.ts'

const encode = (said: string | null) => Buffer.from(JSON.stringify(said)).toString('base64')

/** What the line passes on as media: the caller began to speak, or said this. Empty for noise. */
export const speechFrames = { started: encode(null), said: (text: string) => encode(text) }

/** Ears for the words of a relay. A session that begins while the caller speaks receives only the final words. */
export const createRelayEars: CreateEars = ({ started, stopped, heard }) => {
  let isSpeaking = false
  let isClosed = false
  return {
    hear(frame) {
      if (isClosed) return
      const said: string | null = JSON.parse(Buffer.from(frame, 'base64').toString())
      if (!isSpeaking) started()
      isSpeaking = said === null
      if (said === null) return
      stopped()
      heard(said)
    },
    close() {
      isClosed = true
    },
  }
}

/** The provider speaks, so a sentence stays in words. */
export const relayMouth: Mouth = {
  async *speak(sentence) {
    yield encodeWords(voiced(sentence))
  },
}
