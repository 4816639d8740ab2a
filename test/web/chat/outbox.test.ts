import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createOutbox, type Unsettled } from '../../../web/src/chat/outbox.ts'
import { event } from '../timeline/events.ts'

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
    nowMs: () => 0,
  })
  const states = () => outbox.pending.map(({ clientMessageId, status }) => `${clientMessageId} ${status}`)
  return { outbox, sent, world, states }
}

const received = (seq: number, payload: Record<string, unknown>) =>
  event(seq, 'chat.message.received', { payload })

test('a message is pending until its event is there', () => {
  const { outbox, states } = startOutbox()
  outbox.add('Hello')
  expect(states()).toEqual(['m1 sent'])
  outbox.settle(received(1, { text: 'Something else' }))
  expect(states()).toEqual(['m1 sent'])
  outbox.settle(received(2, { text: 'Hello' }))
  expect(states()).toEqual([])
})

test('of two messages with the same words one event settles one', () => {
  const { outbox, states } = startOutbox()
  outbox.add('Yes')
  outbox.add('Yes')
  outbox.settle(received(1, { text: 'Yes' }))
  expect(states()).toEqual(['m2 sent'])
})

test('an event that is cut short settles the message that begins so', () => {
  const { outbox, states } = startOutbox()
  outbox.add(`A long story ${'and on '.repeat(900)}`)
  outbox.settle(received(1, { excerpt: 'A long story and on and', bytes: 6300 }))
  expect(states()).toEqual([])
})

test('what was written without a connection waits, and goes out under the same id', () => {
  const { outbox, sent, world, states } = startOutbox()
  world.isConnected = false
  outbox.add('Hello')
  expect(states()).toEqual(['m1 waiting'])
  world.isConnected = true
  outbox.flush()
  outbox.flush()
  expect(sent).toEqual(['m1', 'm1'])
  expect(states()).toEqual(['m1 sent'])
})

test('a message that nothing is heard of is offered for a retry, unless the service is busy with others', () => {
  const { outbox, sent, world, states } = startOutbox()
  world.isBusy = true
  outbox.add('First')
  vi.advanceTimersByTime(60_000)
  expect(states()).toEqual(['m1 sent'])
  world.isBusy = false
  outbox.add('Second')
  vi.advanceTimersByTime(60_000)
  expect(states()).toEqual(['m1 sent', 'm2 failed'])
  outbox.retry('m2')
  expect(sent).toEqual(['m1', 'm2', 'm2'])
  expect(states()).toEqual(['m1 sent', 'm2 sent'])
})

test('a refusal hits the message that it names, else the oldest that was sent', () => {
  const { outbox, states } = startOutbox()
  outbox.add('One')
  outbox.add('Two')
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

test('what was said long ago in the same words settles neither what waits nor what was sent after it', () => {
  const { outbox, sent, world, states } = startOutbox()
  world.isConnected = false
  outbox.add('Yes')
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

test('what is not on the timeline yet outlives a reload, and goes out under the same id', () => {
  const before = startOutbox()
  before.world.isConnected = false
  before.outbox.add('Hello')
  const { outbox, sent, world, states } = startOutbox(before.world.kept)
  expect(states()).toEqual(['m1 waiting'])
  world.lastSeq = 3
  outbox.flush()
  expect(sent).toEqual(['m1'])
  outbox.settle(received(4, { text: 'Hello' }))
  expect(world.kept).toEqual([])
})

test('a message that was taken before the reload is settled by the first page after it', () => {
  const before = startOutbox()
  before.world.lastSeq = 20
  before.outbox.add('Hello')
  const { outbox, states } = startOutbox(before.world.kept)
  outbox.settle(received(12, { text: 'Hello' }))
  expect(states()).toEqual(['m1 sent'])
  outbox.settle(received(21, { text: 'Hello' }))
  expect(states()).toEqual([])
})

test('a service that came back with an older copy of its ledger settles by what is new there', () => {
  const { outbox, world, states } = startOutbox()
  world.lastSeq = 20
  outbox.add('Hello')
  world.lastSeq = 5
  outbox.flush()
  outbox.settle(received(6, { text: 'Hello' }))
  expect(states()).toEqual([])
})

test('once closed, nothing is kept any more', () => {
  const { outbox, world } = startOutbox()
  outbox.add('Hello')
  world.kept = []
  outbox.close()
  vi.advanceTimersByTime(60_000)
  expect(outbox.pending).toEqual([])
  expect(world.kept).toEqual([])
})

test('what was sent over a connection that is gone waits for the next one', () => {
  const { outbox, sent, world, states } = startOutbox()
  outbox.add('Hello')
  outbox.add('Refused')
  outbox.fail('m2', 'No.')
  world.isConnected = false
  outbox.wait()
  expect(states()).toEqual(['m1 waiting', 'm2 failed'])
  world.isConnected = true
  outbox.flush()
  expect(sent).toEqual(['m1', 'm2', 'm1'])
  expect(states()).toEqual(['m1 sent', 'm2 failed'])
})
