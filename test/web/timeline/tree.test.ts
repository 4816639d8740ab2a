import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { classify } from '../../../web/src/timeline/event-kinds.ts'
import { type Segment, timelineTree } from '../../../web/src/timeline/tree.ts'
import { event, timelines } from './events.ts'

const turn = { spanId: 's1', turnId: 't1' }

/** A short form of a tree: the key and entries of each segment. */
function outline(segments: readonly Segment[]) {
  return segments.map(({ key, entries }) => [
    key,
    entries.map((entry) =>
      entry.kind === 'activity'
        ? `activity(${entry.events.map(({ seq }) => seq).join(' ')})`
        : `${entry.kind} ${entry.event.seq}`,
    ),
  ])
}

function placedSeqs(segments: readonly Segment[]): number[] {
  return segments.flatMap(({ entries }) =>
    entries.flatMap((entry) =>
      entry.kind === 'activity' ? entry.events.map(({ seq }) => seq) : [entry.event.seq],
    ),
  )
}

test('folds the activity of a turn between message and reply, including later events', () => {
  const tree = timelineTree([
    event(1, 'span.opened', { spanId: 's1', payload: { kind: 'interaction' } }),
    event(2, 'chat.message.received', turn),
    event(3, 'turn.started', { ...turn, internal: true }),
    event(4, 'tool.called', { ...turn, internal: true }),
    event(5, 'chat.reply.sent', turn),
    event(6, 'turn.completed', { ...turn, internal: true }),
    event(7, 'span.closed', { spanId: 's1', payload: { reason: 'idle' } }),
  ])
  expect(outline(tree)).toEqual([['s1', ['message 2', 'activity(3 4 6)', 'message 5']]])
  expect(tree[0]).toMatchObject({ kind: 'interaction', closedReason: 'idle', continued: false })
})

test('shows a proposal where it was made, with the owner’s later answer and the outcome', () => {
  const made = (seq: number, proposalId: string) =>
    event(seq, 'proposal.made', { spanId: 's1', payload: { proposalId, target: '+1', text: 'I am late.' } })
  const tree = timelineTree([
    made(1, 'p1'),
    made(2, 'p2'),
    made(3, 'p3'),
    event(4, 'proposal.confirmed', { spanId: 's2', payload: { proposalId: 'p1' } }),
    event(5, 'proposal.declined', { spanId: 's2', payload: { proposalId: 'p3' } }),
    event(6, 'proposal.completed', {
      spanId: 's2',
      payload: { proposalId: 'p1', outcome: 'refused', text: 'It has changed.' },
    }),
  ])
  expect(outline(tree)).toEqual([['s1', ['proposal 1', 'proposal 2', 'proposal 3']]])
  const given = tree.flatMap(({ entries }) => entries.flatMap((e) => (e.kind === 'proposal' ? [e.word] : [])))
  expect(given).toEqual(['confirmed', null, 'declined'])
  const [first] = tree.flatMap(({ entries }) =>
    entries.flatMap((e) => (e.kind === 'proposal' ? [e.outcome] : [])),
  )
  expect(first).toEqual({ isDone: false, text: 'It has changed.' })
})

test('keeps the words of two concurrent spans in the order in which they were said', () => {
  const call = { spanId: 'call', turnId: null, channel: 'voice' } as const
  const tree = timelineTree([
    event(1, 'span.opened', { ...call, payload: { kind: 'call' } }),
    event(2, 'call.utterance.heard', call),
    event(3, 'chat.message.received', turn),
    event(4, 'call.reply.spoken', call),
    event(5, 'chat.reply.sent', turn),
  ])
  expect(outline(tree)).toEqual([
    ['call', ['message 2']],
    ['s1', ['message 3']],
    ['call+4', ['message 4']],
    ['s1+5', ['message 5']],
  ])
  expect(tree.map(({ continued }) => continued)).toEqual([false, false, true, true])
})

test('moves the activity of a turn to its reply if other messages came in between', () => {
  const tree = timelineTree([
    event(1, 'chat.message.received', turn),
    event(2, 'turn.started', { ...turn, internal: true }),
    event(3, 'sms.received', { spanId: 's2', payload: { party: 'guest' } }),
    event(4, 'chat.reply.sent', turn),
  ])
  expect(outline(tree)).toEqual([
    ['s1', ['message 1']],
    ['s2', ['message 3']],
    ['s1+4', ['activity(2)', 'message 4']],
  ])
})

test('places a message that arrived during a reply below it, where its own turn begins', () => {
  const next = { spanId: 's1', turnId: 't2' }
  const events = [
    event(1, 'chat.message.received', turn),
    event(2, 'turn.started', { ...turn, internal: true }),
    event(3, 'chat.message.received', next),
    event(4, 'chat.reply.sent', turn),
    event(5, 'turn.completed', { ...turn, internal: true }),
    event(6, 'turn.started', { ...next, internal: true }),
    event(7, 'chat.reply.sent', next),
  ]
  const waiting = (until: number) =>
    timelineTree(events.slice(0, until)).flatMap(({ entries }) =>
      entries.flatMap((entry) => (entry.kind === 'message' && entry.waiting ? [entry.event.seq] : [])),
    )
  expect(outline(timelineTree(events))).toEqual([
    ['s1', ['message 1', 'activity(2 5)', 'message 4', 'message 3', 'activity(6)', 'message 7']],
  ])
  expect([waiting(2), waiting(3), waiting(5), waiting(6)]).toEqual([[], [3], [3], []])
})

test('folds adjacent internal events without a span or turn into one background segment', () => {
  const tree = timelineTree([
    event(1, 'memory.checkpoint.created', { internal: true, channel: 'inner' }),
    event(2, 'memory.stored', { internal: true, channel: 'inner' }),
    event(3, 'chat.message.received', turn),
    event(4, 'memory.stored', { internal: true, channel: 'inner' }),
  ])
  expect(outline(tree)).toEqual([
    ['background:1', ['activity(1 2)']],
    ['s1', ['message 3']],
    ['background:4', ['activity(4)']],
  ])
})

test('folds an activation into the background if it said nothing, and shows it otherwise', () => {
  const activation = { spanId: 'a1', turnId: 't9', channel: 'inner' } as const
  const silent = [
    event(1, 'span.opened', { ...activation, payload: { kind: 'activation' } }),
    event(2, 'activation.started', { ...activation, internal: true }),
    event(3, 'turn.started', { ...activation, internal: true }),
  ]
  const background = event(4, 'memory.stored', { internal: true, channel: 'inner' })
  expect(outline(timelineTree([...silent, background]))).toEqual([['background:2', ['activity(2 3 4)']]])
  const spoken = [...silent, event(4, 'chat.reply.sent', activation)]
  expect(outline(timelineTree(spoken))).toEqual([['a1', ['activity(2 3)', 'message 4']]])
})

test('folds sign-ins and changed settings into the background', () => {
  const tree = timelineTree([
    event(1, 'owner.signed-in', { channel: null }),
    event(2, 'settings.changed', { channel: null, payload: { keys: ['TIMEZONE'] } }),
    event(3, 'chat.message.received', turn),
  ])
  expect(outline(tree)).toEqual([
    ['background:1', ['activity(1 2)']],
    ['s1', ['message 3']],
  ])
})

test('shows a sign-in from a new device', () => {
  const tree = timelineTree([
    event(1, 'owner.signed-in', { channel: null, payload: { newDevice: true } }),
    event(2, 'owner.signed-in', { channel: null }),
  ])
  expect(outline(tree).flatMap(([, entries]) => entries)).toEqual(['notice 1', 'activity(2)'])
})

test('shows a turn as running until it completes, fails or is stopped', () => {
  const started = event(1, 'turn.started', { ...turn, internal: true })
  const running = (more: readonly TimelineEvent[]) =>
    timelineTree([started, ...more]).some(({ entries }) =>
      entries.some((entry) => entry.kind === 'activity' && entry.running),
    )
  expect(running([])).toBe(true)
  expect(running([event(2, 'turn.completed', { ...turn, internal: true })])).toBe(false)
  expect(running([event(2, 'turn.failed', turn)])).toBe(false)
  expect(running([event(2, 'chat.reply.stopped', turn)])).toBe(false)
})

test('never shows an internal event as a message, whatever its type', () => {
  fc.assert(
    fc.property(fc.constantFrom('chat.message.received', 'sms.received', 'call.reply.spoken'), (type) => {
      expect(classify(event(1, type, { internal: true })).kind).toBe('internal')
    }),
  )
})

test('contains every shown event exactly once, with words in order except for queued messages', () => {
  fc.assert(
    fc.property(timelines, (events) => {
      const tree = timelineTree(events)
      const shown = events.filter((candidate) => classify(candidate).kind !== 'structure')
      expect(placedSeqs(tree).toSorted((a, b) => a - b)).toEqual(shown.map(({ seq }) => seq))
      const words = tree.flatMap(({ entries }) =>
        entries.flatMap((entry) =>
          entry.kind === 'activity' || entry.event.type === 'chat.message.received' ? [] : [entry.event.seq],
        ),
      )
      expect(words).toEqual(words.toSorted((a, b) => a - b))
    }),
  )
})

test('gives every segment a unique key', () => {
  fc.assert(
    fc.property(timelines, (events) => {
      const keys = timelineTree(events).map(({ key }) => key)
      expect(new Set(keys).size).toBe(keys.length)
    }),
  )
})
