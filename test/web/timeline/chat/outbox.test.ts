import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  createOutbox,
  forgetUnsettled,
  keepUnsettled,
  readUnsettled,
} from '../../../../web/src/timeline/chat/outbox.ts'
import type { Pending } from '../../../../web/src/timeline/rows.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function startOutbox(kept: readonly Pending[] = []) {
  const sent: string[] = []
  const world = { isConnected: true, kept }
  let ids = 0
  const outbox = createOutbox({
    send: ({ clientMessageId }) => {
      if (world.isConnected) sent.push(clientMessageId)
      return world.isConnected
    },
    kept,
    keep: (pending) => {
      world.kept = pending
    },
    changed: () => undefined,
    newId: () => `m${++ids}`,
  })
  const states = () => outbox.pending.map(({ clientMessageId, status }) => `${clientMessageId} ${status}`)
  return { outbox, sent, world, states }
}

test('keeps a message until the service has it, whatever other messages say', () => {
  const { outbox, states } = startOutbox()
  outbox.add({ text: 'Yes', pasted: [] })
  outbox.add({ text: 'Yes', pasted: [] })
  outbox.remove('m2')
  outbox.remove('of another tab')
  expect(states()).toEqual(['m1 sent'])
})

test('holds messages while disconnected and sends them under the same id', () => {
  const { outbox, sent, world, states } = startOutbox()
  world.isConnected = false
  outbox.add({ text: 'Hello', pasted: [] })
  expect(states()).toEqual(['m1 waiting'])
  world.isConnected = true
  outbox.flush()
  outbox.flush()
  expect(sent).toEqual(['m1', 'm1'])
  expect(states()).toEqual(['m1 sent'])
})

test('offers to send an unanswered message again, and does so with the next connection', () => {
  const { outbox, sent, states } = startOutbox()
  outbox.add({ text: 'Hello', pasted: [] })
  vi.advanceTimersByTime(60_000)
  expect(states()).toEqual(['m1 unanswered'])
  outbox.retry('m1')
  expect(states()).toEqual(['m1 sent'])
  vi.advanceTimersByTime(60_000)
  outbox.wait()
  outbox.flush()
  expect(sent).toEqual(['m1', 'm1', 'm1'])
  expect(states()).toEqual(['m1 sent'])
})

test('applies an error to the message that it names, else to the oldest one sent', () => {
  const { outbox, states } = startOutbox()
  outbox.add({ text: 'One', pasted: [] })
  outbox.add({ text: 'Two', pasted: [] })
  expect(outbox.fail('m2', 'No.')).toBe(true)
  expect(states()).toEqual(['m1 sent', 'm2 failed'])
  expect(outbox.fail(null, 'No.')).toBe(true)
  expect(states()).toEqual(['m1 failed', 'm2 failed'])
  expect(outbox.fail(null, 'No.')).toBe(false)
  outbox.flush()
  expect(states()).toEqual(['m1 failed', 'm2 failed'])
  outbox.remove('m1')
  expect(states()).toEqual(['m2 failed'])
})

test('sends messages stored before a reload under the same id', () => {
  const before = startOutbox()
  before.world.isConnected = false
  before.outbox.add({ text: 'Hello', pasted: [] })
  const { outbox, sent, world, states } = startOutbox(before.world.kept)
  expect(states()).toEqual(['m1 waiting'])
  outbox.flush()
  expect(sent).toEqual(['m1'])
  outbox.remove('m1')
  expect(world.kept).toEqual([])
})

test('stores nothing once closed', () => {
  const { outbox, world } = startOutbox()
  outbox.add({ text: 'Hello', pasted: [] })
  world.kept = []
  outbox.close()
  vi.advanceTimersByTime(60_000)
  expect(outbox.pending).toEqual([])
  expect(world.kept).toEqual([])
})

test('resends messages after a lost connection, but not failed ones', () => {
  const { outbox, sent, world, states } = startOutbox()
  outbox.add({ text: 'Hello', pasted: [] })
  outbox.add({ text: 'Refused', pasted: [] })
  outbox.fail('m2', 'No.')
  world.isConnected = false
  outbox.wait()
  expect(states()).toEqual(['m1 waiting', 'm2 failed'])
  world.isConnected = true
  outbox.flush()
  expect(sent).toEqual(['m1', 'm2', 'm1'])
  expect(states()).toEqual(['m1 sent', 'm2 failed'])
})

test('keeps each message until it is settled, also for the next page, without those of other tabs', () => {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  }
  // The names of stored items are properties of the storage.
  const keys = {
    ownKeys: () => [...kept.keys()],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  }
  vi.stubGlobal('localStorage', new Proxy(storage, keys))
  const message = (id: string, at: string) => ({
    ...{ clientMessageId: id, text: 'Hello', pasted: [], at, reason: null },
    status: 'sent' as const,
  })
  const [first, second, other] = [message('m1', '2'), message('m2', '3'), message('m3', '1')]
  keepUnsettled([other], [])
  keepUnsettled([first, second], [])
  expect(readUnsettled().map((each) => `${each.clientMessageId} ${each.status}`)).toEqual([
    'm3 waiting',
    'm1 waiting',
    'm2 waiting',
  ])
  keepUnsettled([second], [first, second])
  expect(readUnsettled().map((each) => each.clientMessageId)).toEqual(['m3', 'm2'])
  forgetUnsettled()
  expect([...kept]).toEqual([])
  vi.unstubAllGlobals()
})
