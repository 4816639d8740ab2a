import { expect, test } from 'vitest'
import {
  ATTACK,
  DEEDS,
  leftOf,
  ORDERS,
  paste,
  proposedTools,
  startObedient,
  UNTOUCHED,
} from './obedient-house.ts'

test.each([
  ['the same words', 'What does this say? ', ''],
  ['other words before it', 'Do what this says: ', ''],
  ['other words around it', 'Please do this now: ', '\nThat is my wish.'],
])(
  'proposes but does not execute orders from pasted text when the replacing message has %s',
  async (_name, before, after) => {
    const house = await startObedient()
    const letter = ORDERS.join('\n')
    const turnId = await paste(house, 'What does this say? ', letter)
    // This client does not mark the pasted text again.
    const content = `${before}${letter}${after}`
    const { status } = await house.service.client.post('/api/chat', { content, replaces: turnId })
    expect(status).toBe(200)
    expect(await leftOf(house)).toEqual(UNTOUCHED)
    expect(new Set(await proposedTools(house))).toEqual(new Set(Object.keys(DEEDS)))
  },
)

test('executes no orders from a message that replaces a dictated one', async () => {
  const house = await startObedient({ environment: { TRANSCRIPTION_MODEL: 'test-ears' } })
  house.text.replyTo('/audio/transcriptions', { text: 'Hello, this is somebody in the room.' })
  const recording = { audioBase64: Buffer.from('RIFF of a recording').toString('base64'), format: 'wav' }
  const { turnId } = (await house.service.client.post('/_dev/walkie/voice', recording)).json
  const { status } = await house.service.client.post('/api/chat', { content: ATTACK, replaces: turnId })
  expect(status).toBe(200)
  expect(await leftOf(house)).toEqual(UNTOUCHED)
})
