import fc from 'fast-check'
import { expect, test } from 'vitest'
import { heardText } from '../../../src/phone/call/heard-text.ts'
import { decodeWords, encodeWords, wordsMedium } from '../../../src/phone/call/medium.ts'
import { wordPhrases } from '../../../src/phone/call/phrases.ts'
import { callOptions, startCall } from './call-driver.ts'

test('cuts text into words without loss, so that each acknowledged word is heard exactly', () => {
  const sentence = fc.array(fc.constantFrom('Grüße', 'the', 'train', '9:15,', 'naïve', '東京は', 'no.'), {
    minLength: 1,
  })
  fc.assert(
    fc.property(sentence, (given) => {
      const text = given.join(' ')
      const { chunks } = wordsMedium.cut(new Uint8Array(0), encodeWords(text))
      const pieces = chunks.map(({ payload }) => decodeWords(payload))
      expect(pieces.join('')).toBe(text)
      const wholeMs = text.length * 2 * wordsMedium.msPerByte
      let bytes = 0
      for (const [index, chunk] of chunks.entries()) {
        bytes += chunk.bytes
        const heardMs = Math.floor(bytes * wordsMedium.msPerByte)
        expect(heardText(text, heardMs, wholeMs)).toBe(
          pieces
            .slice(0, index + 1)
            .join('')
            .trimEnd(),
        )
      }
    }),
  )
})

test('goes on in a new session when a line that had broken is back', () => {
  const call = startCall({ ...callOptions(), medium: wordsMedium, phrases: wordPhrases('en') })
  call.said({ type: 'session.updated', session: {} })
  call.said({ type: 'response.created', response: { id: 'r1' } })
  const ofItem = { response_id: 'r1', item_id: 'i1', content_index: 0 }
  call.said({ type: 'response.output_audio_transcript.delta', ...ofItem, delta: 'Hello there, Ada.' })
  call.said({ type: 'response.output_audio.delta', ...ofItem, delta: encodeWords('Hello there, Ada.') })
  call.mark('1')
  const actions = call.give({ type: 'line.resumed' })
  expect(actions.map(({ type }) => type)).toContain('model.open')
  const [reply] = actions.flatMap((action) => (action.type === 'record' ? action.facts : []))
  expect(reply).toMatchObject({
    type: 'call.reply.spoken',
    facts: { interrupted: true },
    body: { text: 'Hello there,' },
  })
  const said = actions.flatMap((action) =>
    action.type === 'line.media' ? [decodeWords(action.payload)] : [],
  )
  expect(said.join('')).toContain('I lost my thread')
})
