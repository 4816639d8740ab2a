import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  createOutbox,
  forgetUnsettled,
  keepUnsettled,
  readUnsettled,
  type Unsettled,
} from '../../../../web/src/timeline/chat/outbox.ts'
import { event } from '../events.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function startOutbox(kept: readonly Unsettled[] = []) {
  const sent: string[] = []
  const world = { isConnected: true, isBusy: false, lastSeq: 0, kept }
  let ids = 0
  const outbox = createOutbox({
    send: ({ clientMessageId }) => {
      if (world.isConnected) sent.push(clientMessageId)
      return world.isConnected
    },
    isBusy: () => world.isBusy,
    lastSeq: () => world.lastSeq,
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

const received = (seq: number, payload: Record<string, unknown>) =>
  event(seq, 'chat.message.received', { payload })

test('keeps a message pending until its event arrives', () => {
  const { outbox, states } = startOutbox()
  outbox.add({ text: 'Hello', pasted: [] })
  expect(states()).toEqual(['m1 sent'])
  outbox.settle(received(1, { text: 'Something else' }))
  expect(states()).toEqual(['m1 sent'])
  outbox.settle(received(2, { text: 'Hello' }))
  expect(states()).toEqual([])
})

test('settles one message per event if two have the same text', () => {
  const { outbox, states } = startOutbox()
  outbox.add({ text: 'Yes', pasted: [] })
  outbox.add({ text: 'Yes', pasted: [] })
  outbox.settle(received(1, { text: 'Yes' }))
  expect(states()).toEqual(['m2 sent'])
})

test('settles a message by the beginning of its text if the event is truncated', () => {
  const { outbox, states } = startOutbox()
  outbox.add({ text: `A long story ${'and on '.repeat(900)}`, pasted: [] })
  outbox.settle(received(1, { excerpt: 'A long story and on and', bytes: 6300 }))
  expect(states()).toEqual([])
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

test('fails an unanswered message after a timeout, unless the service is busy with others', () => {
  const { outbox, sent, world, states } = startOutbox()
  world.isBusy = true
  outbox.add({ text: 'First', pasted: [] })
  vi.advanceTimersByTime(60_000)
  expect(states()).toEqual(['m1 sent'])
  world.isBusy = false
  outbox.add({ text: 'Second', pasted: [] })
  vi.advanceTimersByTime(60_000)
  expect(states()).toEqual(['m1 sent', 'm2 failed'])
  outbox.retry('m2')
  expect(sent).toEqual(['m1', 'm2', 'm2'])
  expect(states()).toEqual(['m1 sent', 'm2 sent'])
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
  outbox.discard('m1')
  expect(states()).toEqual(['m2 failed'])
})

test('does not settle a message by an older event with the same text', () => {
  const { outbox, sent, world, states } = startOutbox()
  world.isConnected = false
  outbox.add({ text: 'Yes', pasted: [] })
  outbox.settle(received(7, { text: 'Yes' }))
  expect(states()).toEqual(['m1 waiting'])
  world.isConnected = true
  world.lastSeq = 9
  outbox.flush()
  expect(sent).toEqual(['m1'])
  outbox.settle(received(5, { text: 'Yes' }))
  expect(states()).toEqual(['m1 sent'])
  outbox.settle(received(10, { text: 'Yes' }))
  expect(states()).toEqual([])
})

test('sends messages stored before a reload under the same id', () => {
  const before = startOutbox()
  before.world.isConnected = false
  before.outbox.add({ text: 'Hello', pasted: [] })
  const { outbox, sent, world, states } = startOutbox(before.world.kept)
  expect(states()).toEqual(['m1 waiting'])
  world.lastSeq = 3
  outbox.flush()
  expect(sent).toEqual(['m1'])
  outbox.settle(received(4, { text: 'Hello' }))
  expect(world.kept).toEqual([])
})

test('settles a message that the service received before the reload', () => {
  const before = startOutbox()
  before.world.lastSeq = 20
  before.outbox.add({ text: 'Hello', pasted: [] })
  const { outbox, states } = startOutbox(before.world.kept)
  outbox.settle(received(12, { text: 'Hello' }))
  expect(states()).toEqual(['m1 sent'])
  outbox.settle(received(21, { text: 'Hello' }))
  expect(states()).toEqual([])
})

test('settles messages after the service restarts from an older ledger', () => {
  const { outbox, world, states } = startOutbox()
  world.lastSeq = 20
  outbox.add({ text: 'Hello', pasted: [] })
  world.lastSeq = 5
  outbox.flush()
  outbox.settle(received(6, { text: 'Hello' }))
  expect(states()).toEqual([])
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
    ...{ clientMessageId: id, text: 'Hello', pasted: [], at, reason: null, afterSeq: 3 },
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
