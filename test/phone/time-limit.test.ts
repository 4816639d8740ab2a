import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { script, speech } from './call/call-harness.ts'
import { ofType, startWithPhone } from './phone-harness.ts'
import { ACCOUNT, GUEST, OWNER, tokenOf } from './provider.ts'

const GREETS = script({ reply: () => ({ audio: speech('caller-thanks'), transcript: 'Hello.' }) })
/** Larger leaps would count as time that the process was blocked. */
const STEP_MS = 400

/** A call after its greeting, with a clock that the test moves. The caller acknowledges no audio. */
async function connected(from: string) {
  const real = performance.now.bind(performance)
  let aheadMs = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + aheadMs)
  onTestFinished(() => clock.mockRestore())
  const phone = await startWithPhone({ script: GREETS })
  const token = tokenOf((await phone.provider.ring('CA1', from)).text)
  const socket = new WebSocket(`ws://127.0.0.1:${phone.service.port}/call`)
  onTestFinished(() => socket.terminate())
  let frames = 0
  const send = (event: string, fields: object) => {
    if (socket.readyState !== WebSocket.OPEN) return
    frames += 1
    socket.send(JSON.stringify({ event, sequenceNumber: String(frames), streamSid: 'MZ1', ...fields }))
  }
  socket.on('open', () =>
    send('start', {
      start: {
        accountSid: ACCOUNT,
        callSid: 'CA1',
        streamSid: 'MZ1',
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: { token },
      },
    }),
  )
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'turn.completed').length === 1)

  /** Advances the call by this time; the call reads the clock on each frame. */
  async function pass(ms: number): Promise<void> {
    const payload = Buffer.alloc(160, 0xff).toString('base64')
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      aheadMs += STEP_MS
      send('media', { media: { track: 'inbound', chunk: '1', timestamp: String(frames * 20), payload } })
      await wait(1)
    }
  }
  const isOver = async () => (await phone.service.client.get('/api/calls/current')).json.call === null
  return { phone, isOver, pass }
}

test('ends a guest’s call after three minutes', async () => {
  const { phone, isOver, pass } = await connected(GUEST)
  await pass(150_000)
  expect(await isOver()).toBe(false)
  await pass(32_000)
  // Saying goodbye takes time of the call, too: a minute at most.
  let passes = 0
  const isOverSoon = async () => {
    passes += 1
    if (passes <= 15) await pass(4_000)
    return isOver()
  }
  await expect.poll(isOverSoon).toBe(true)
  const all = await phone.eventsUntil('the end', (events) => ofType(events, 'call.ended').length === 1)
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'time_limit' } }])
})

test('does not limit the owner’s call', async () => {
  const { phone, isOver, pass } = await connected(OWNER)
  await pass(300_000)
  expect(await isOver()).toBe(false)
  expect(ofType(await phone.events(), 'call.ended')).toEqual([])
})
