import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { createTimelineStore } from '../../../web/src/timeline/store.ts'
import { timelineTree } from '../../../web/src/timeline/tree.ts'
import { event, timelines } from './events.ts'

test('stores each event once, in order of seq, however events are delivered', () => {
  const store = createTimelineStore()
  store.add([event(5, 'a'), event(6, 'b')])
  store.add([event(2, 'c'), event(9, 'd'), event(5, 'a')])
  store.add([event(9, 'd')])
  expect([2, 5, 6, 9].map((seq) => store.get(seq)?.type)).toEqual(['c', 'a', 'b', 'd'])
  expect(store.lastSeq).toBe(9)
})

test('removes the words of a loaded event when its erasure arrives', () => {
  const store = createTimelineStore()
  store.add([event(1, 'chat.message.received', { payload: { text: 'secret', party: 'owner' } })])
  store.add([event(2, 'erased', { payload: { seqs: [1] } })])
  expect(store.get(1)?.payload).toEqual({ party: 'owner', erased: true })
})

test('removes the words of an event that arrives after its erasure', () => {
  const store = createTimelineStore()
  store.add([event(2, 'erased', { payload: { seqs: [1] } })])
  store.add([event(1, 'chat.message.received', { payload: { text: 'secret' } })])
  expect(store.get(1)?.payload).toEqual({ erased: true })
})

test('replaces an excerpt with the whole body, but never the reverse', () => {
  const store = createTimelineStore()
  const cut = event(1, 'chat.reply.sent', { payload: { excerpt: 'lo', bytes: 9000 } })
  const whole = event(1, 'chat.reply.sent', { payload: { text: 'long' } })
  store.add([cut])
  store.add([whole])
  store.add([cut])
  expect(store.get(1)?.payload).toEqual({ text: 'long' })
})

test('shows an old exchange only once the gap before the newer ones is closed', () => {
  const exchange = (spanId: string, seq: number) => [
    event(seq, 'span.opened', { spanId, payload: { kind: 'interaction' } }),
    event(seq + 1, 'chat.message.received', { spanId, turnId: spanId, payload: { text: spanId } }),
    event(seq + 2, 'chat.reply.sent', { spanId, turnId: spanId, payload: { text: 'Yes.' } }),
  ]
  const lateEvent = event(90, 'memory.extraction.completed', { spanId: 'old', internal: true })
  const store = createTimelineStore()
  store.setWholeFrom(82)
  // The newest page also contains an exchange that it would have split, and an old one with a late event.
  store.add([...exchange('old', 3), ...exchange('cut', 80), ...exchange('new', 85), lateEvent])
  const shown = () => store.tree.map(({ spanId }) => spanId)
  expect(shown()).toEqual(['cut', 'new'])
  store.setWholeFrom(40)
  store.add(exchange('middle', 40))
  expect(shown()).toEqual(['middle', 'cut', 'new'])
  store.setWholeFrom(0)
  store.add(exchange('first', 1).map((each) => ({ ...each, seq: each.seq - 1 })))
  expect(shown()).toEqual(['first', 'old', 'middle', 'cut', 'new'])
})

test('places what is learned late from an exchange with it, not below a later one, before it is loaded', () => {
  const page = (...events: readonly TimelineEvent[]) => {
    const store = createTimelineStore()
    store.setWholeFrom(82)
    store.add(events)
    return store.tree.map(({ spanId }) => spanId)
  }
  const place = { spanId: 'old', turnId: 't1' }
  const old = [
    event(3, 'span.opened', { spanId: 'old', payload: { kind: 'interaction' } }),
    event(4, 'chat.message.received', { ...place, payload: { text: 'I live in Porto.' } }),
    event(5, 'turn.started', { ...place, internal: true }),
  ]
  const recent = [
    event(85, 'span.opened', { spanId: 'new', payload: { kind: 'interaction' } }),
    event(86, 'chat.message.received', { spanId: 'new', turnId: 't2', payload: { text: 'Hello' } }),
  ]
  const learned = event(90, 'memory.stored', { ...place, internal: true })
  // A page completes the spans of its events; live, only the event arrives.
  expect(page(...old, ...recent, learned)).toEqual(['new'])
  expect(page(...recent, learned)).toEqual(['new'])
})

test('builds the same tree for any order of pages and live events, with repeats', () => {
  fc.assert(
    fc.property(
      timelines.chain((events) =>
        fc.tuple(
          fc.constant(events),
          fc.shuffledSubarray([...events], { minLength: events.length }),
          fc.array(fc.nat({ max: Math.max(0, events.length - 1) }), { maxLength: 8 }),
          fc.integer({ min: 1, max: 9 }),
        ),
      ),
      ([events, shuffled, repeats, pageSize]) => {
        const inOrder = createTimelineStore()
        inOrder.add(events)
        const anyOrder = createTimelineStore()
        for (let from = 0; from < shuffled.length; from += pageSize) {
          anyOrder.add(shuffled.slice(from, from + pageSize))
          // Reading the tree between pages must not affect the result.
          expect(anyOrder.tree.length).toBeGreaterThanOrEqual(0)
        }
        anyOrder.add(repeats.flatMap((index) => events[index] ?? []))
        const stored = events.flatMap(({ seq }) => anyOrder.get(seq) ?? [])
        expect(anyOrder.tree).toEqual(timelineTree(stored))
        expect(anyOrder.tree).toEqual(inOrder.tree)
      },
    ),
  )
})

test('marks messages not to be kept until the owner keeps them, in any order of arrival', () => {
  const store = createTimelineStore()
  const facts = { sourceSeqs: [1], by: 'owner' }
  const barred = event(3, 'memory.sources.barred', { actor: 'service', payload: facts })
  store.add([event(1, 'chat.message.received'), barred])
  expect(store.isBarred(1)).toBe(true)
  store.add([event(4, 'memory.sources.kept', { payload: { sourceSeqs: [1] } })])
  store.add([barred])
  expect(store.isBarred(1)).toBe(false)
  // An earlier build recorded forgotten words like this.
  store.add([event(5, 'memory.sources.barred', { payload: { sourceSeqs: [2], by: 'owner' } })])
  expect(store.isBarred(2)).toBe(false)
})

test('keeps an earlier version folded when the message that replaced it is erased', () => {
  const store = createTimelineStore()
  const replaces = { turnId: 't1', seq: 1, sameWords: false }
  store.add([
    event(1, 'chat.message.received', { turnId: 't1', payload: { text: 'one' } }),
    event(2, 'chat.message.received', { turnId: 't2', payload: { text: 'two', replaces } }),
    event(3, 'erased', { payload: { seqs: [2] } }),
  ])
  const kinds = store.tree.flatMap(({ entries }) => entries.map(({ kind }) => kind))
  expect(kinds).toEqual(['branch', 'message'])
})

test('knows that the same words asked again are not to be kept, until they are', () => {
  const store = createTimelineStore()
  const replaces = { turnId: 't1', seq: 1, sameWords: true }
  const barred = { actor: 'service', internal: true, payload: { by: 'owner', sourceSeqs: [1] } }
  store.add([
    event(1, 'chat.message.received', { turnId: 't1', payload: { text: 'one' } }),
    event(2, 'memory.sources.barred', barred),
    event(3, 'chat.message.received', { turnId: 't2', payload: { text: 'one', replaces } }),
  ])
  expect(store.isBarred(3)).toBe(true)
  store.add([event(4, 'memory.sources.kept', { internal: true, payload: { sourceSeqs: [3] } })])
  expect(store.isBarred(3)).toBe(false)
})
