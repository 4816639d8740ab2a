import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { effectsOf, excerptOfBranch } from '../../../web/src/timeline/branches.ts'
import { classify } from '../../../web/src/timeline/event-kinds.ts'
import {
  holderOf,
  keysAround,
  type Row,
  type RowsInput,
  rowIndexOf,
  timelineRows,
} from '../../../web/src/timeline/rows.ts'
import { titleOf } from '../../../web/src/timeline/titles.ts'
import { timelineTree } from '../../../web/src/timeline/tree.ts'
import { event, timelines } from './events.ts'

const turn = { spanId: 's1', turnId: 't1' }
const exchange = [
  event(1, 'span.opened', { spanId: 's1', payload: { kind: 'interaction' } }),
  event(2, 'chat.message.received', { ...turn, payload: { text: 'hello' } }),
  event(3, 'turn.started', { ...turn, internal: true }),
  event(4, 'tool.called', { ...turn, internal: true, payload: { callId: 'k', tool: 'note_create' } }),
  event(5, 'tool.returned', { ...turn, internal: true, payload: { callId: 'k', outcome: 'ok' } }),
]

function rowsOf(events: readonly TimelineEvent[], more: Partial<RowsInput> = {}): readonly Row[] {
  return timelineRows({
    segments: timelineTree(events),
    toggled: new Set(),
    talk: [],
    previews: [],
    pending: [],
    ...more,
  })
}
const kindsOf = (rows: readonly Row[]) => rows.map(({ kind }) => kind)

test('shows the messages of an exchange and folds its activity', () => {
  const rows = rowsOf([...exchange, event(6, 'chat.reply.sent', { ...turn, payload: { text: 'hi' } })])
  expect(kindsOf(rows)).toEqual(['day', 'span', 'message', 'activity', 'message'])
})

test('shows the steps of an unfolded activity, with a tool call and its return as one', () => {
  const rows = rowsOf(exchange, { toggled: new Set(['activity:t1']) })
  expect(kindsOf(rows)).toEqual(['day', 'span', 'message', 'activity', 'step', 'step'])
})

test('folds a long call once it has ended', () => {
  const call = { spanId: 'call', channel: 'voice' } as const
  const events = [
    event(1, 'span.opened', { ...call, payload: { kind: 'call' } }),
    ...Array.from({ length: 8 }, (_, index) => event(index + 2, 'call.utterance.heard', call)),
    event(10, 'span.closed', { ...call, payload: { reason: 'hangup' } }),
  ]
  expect(kindsOf(rowsOf(events))).toEqual(['day', 'span'])
  expect(kindsOf(rowsOf(events, { toggled: new Set(['call']) }))).toHaveLength(10)
})

test('keeps an ended call with few messages unfolded, however many other events it has', () => {
  const call = { spanId: 'call', channel: 'voice' } as const
  const events = [
    event(1, 'span.opened', { ...call, payload: { kind: 'call' } }),
    event(2, 'call.offered', call),
    event(3, 'call.connected', call),
    ...[4, 6, 8].flatMap((seq) => [
      event(seq, 'call.utterance.heard', call),
      event(seq + 1, 'call.interrupted', call),
    ]),
    event(10, 'call.ended', call),
    event(11, 'span.closed', { ...call, payload: { reason: 'failed' } }),
  ]
  expect(kindsOf(rowsOf(events)).filter((kind) => kind === 'message')).toHaveLength(3)
})

test('keeps the key of a reply when its event replaces the preview', () => {
  const previewed = rowsOf(exchange, { previews: [{ turnId: 't1', text: 'h' }] })
  const sent = rowsOf([...exchange, event(6, 'chat.reply.sent', turn)], {
    previews: [{ turnId: 't1', text: 'h' }],
  })
  expect(previewed.at(-1)).toMatchObject({ kind: 'preview', key: 'reply:t1' })
  expect(sent.at(-1)).toMatchObject({ kind: 'message', key: 'reply:t1' })
})

test('shows a running turn once: as its activity, or as a preview without one', () => {
  expect(kindsOf(rowsOf(exchange, { previews: [{ turnId: 't1', text: '' }] })).at(-1)).toBe('activity')
  expect(kindsOf(rowsOf(exchange.slice(0, 2), { previews: [{ turnId: 't1', text: '' }] })).at(-1)).toBe(
    'preview',
  )
})

test('shows no failure for a turn that was stopped after some words', () => {
  const stopped = [
    event(6, 'chat.reply.stopped', turn),
    event(7, 'turn.failed', { ...turn, payload: { kind: 'stopped' } }),
  ]
  expect(kindsOf(rowsOf([...exchange, ...stopped]))).not.toContain('failure')
})

test('shows what was said before a turn failed, and its failure below', () => {
  const failed = [
    event(6, 'chat.reply.stopped', { ...turn, payload: { reason: 'failed', text: 'The first half' } }),
    event(7, 'turn.failed', { ...turn, payload: { kind: 'unavailable' } }),
  ]
  expect(kindsOf(rowsOf([...exchange, ...failed])).slice(-2)).toEqual(['message', 'failure'])
})

test('starts each local day with a heading, even within a span', () => {
  const at = (day: number) => ({ ...turn, at: new Date(2026, 2, day, 12).toISOString() })
  const rows = rowsOf([
    event(1, 'chat.message.received', at(1)),
    event(2, 'chat.reply.sent', at(2)),
    event(3, 'chat.message.received', { ...at(2), turnId: 't2' }),
  ])
  expect(kindsOf(rows)).toEqual(['day', 'span', 'message', 'day', 'message', 'message'])
})

test('gives every row a unique key, folded or unfolded', () => {
  fc.assert(
    fc.property(timelines, fc.boolean(), (events, unfold) => {
      const segments = timelineTree(events)
      const all = segments.flatMap(({ entries }) =>
        entries.flatMap((e) => (e.kind === 'activity' ? [e.key] : [])),
      )
      const rows = rowsOf(events, { toggled: new Set(unfold ? all : []) })
      const keys = rows.map(({ key }) => key)
      expect(new Set(keys).size).toBe(keys.length)
    }),
  )
})

test('shows an event in a row once its keys are unfolded', () => {
  fc.assert(
    fc.property(timelines, (events) => {
      const segments = timelineTree(events)
      for (const each of events) {
        const { seq, type } = each
        const keys = keysAround(segments, seq)
        if (classify(each).kind === 'structure') expect(keys).toEqual([])
        else {
          const closed = keys.filter((key) => key.startsWith('activity:'))
          const hidden = segments.find(({ key }) => key === keys[0])?.firstVisibleSeq === null
          const toggled = new Set([...closed, ...(hidden ? keys.slice(0, 1) : [])])
          const stopped = type === 'turn.failed'
          if (!stopped) expect(rowIndexOf(rowsOf(events, { toggled }), seq)).toBeGreaterThanOrEqual(0)
        }
      }
    }),
    { numRuns: 30 },
  )
})

test('finds the row that folds another: the activity of a step, or the heading of an entry', () => {
  const rows = rowsOf([...exchange, event(6, 'chat.reply.sent', { ...turn, payload: { text: 'hi' } })], {
    toggled: new Set(['activity:t1']),
  })
  expect(rows.map((_, at) => holderOf(rows, at)?.kind ?? null)).toEqual([
    null,
    null,
    'span',
    'span',
    'activity',
    'activity',
    'span',
  ])
})

/** The exchange, and a message that takes the place of its message. */
const changed = (sameWords: boolean, words: string) => [
  ...exchange,
  event(6, 'timer.set', { ...turn, payload: { title: 'Tea', timerId: 'x' } }),
  event(7, 'chat.reply.sent', { ...turn, payload: { text: '**hi**, see [the list](/notes/1)' } }),
  event(8, 'turn.completed', { ...turn, internal: true }),
  event(9, 'chat.message.received', {
    spanId: 's1',
    turnId: 't2',
    payload: { text: words, replaces: { turnId: 't1', seq: 2, sameWords } },
  }),
  event(10, 'chat.reply.sent', { spanId: 's1', turnId: 't2', payload: { text: 'good day' } }),
]

test('folds a message that another one replaced, with its answer, and lists what it did', () => {
  const rows = rowsOf(changed(false, 'good morning'))
  expect(kindsOf(rows)).toEqual(['day', 'span', 'branch', 'message', 'message'])
  const branch = rows.find((row) => row.kind === 'branch')
  if (branch?.kind !== 'branch') throw new Error('no branch')
  expect(effectsOf(branch.branch.entries).map(titleOf)).toEqual(['Reminder set: Tea'])
  expect(excerptOfBranch(branch.branch)).toBe('hello')
  const open = rowsOf(changed(false, 'good morning'), { toggled: new Set([branch.key]) })
  const within = open.filter(({ replaced }) => replaced)
  expect(kindsOf(within)).toEqual(['message', 'activity', 'notice', 'message'])
})

test('shows the answer of an earlier branch by a search hit, and excerpts it if the words are the same', () => {
  const events = changed(true, 'hello')
  const segments = timelineTree(events)
  const keys = keysAround(segments, 5)
  expect(keys).toHaveLength(3)
  expect(rowIndexOf(rowsOf(events, { toggled: new Set(keys.slice(1)) }), 5)).toBeGreaterThan(0)
  const branch = rowsOf(events).find((row) => row.kind === 'branch')
  expect(branch?.kind === 'branch' && excerptOfBranch(branch.branch)).toBe('hi, see the list')
})

test('takes a replaced turn as over, even if a crash cut it off', () => {
  const rows = rowsOf(
    [
      ...exchange,
      event(6, 'chat.message.received', {
        spanId: 's1',
        turnId: 't2',
        payload: { text: 'bye', replaces: { turnId: 't1', seq: 2, sameWords: false } },
      }),
    ],
    { previews: [{ turnId: 't1', text: 'h' }] },
  )
  expect(kindsOf(rows)).toEqual(['day', 'span', 'branch', 'message'])
  expect(rows.at(-1)).toMatchObject({ kind: 'message', message: { waiting: false } })
})

test('shows a queued message below the running reply, and above its own', () => {
  const rows = rowsOf(
    [
      ...exchange,
      event(6, 'chat.message.received', { spanId: 's1', turnId: 't2', payload: { text: 'and more' } }),
    ],
    {
      previews: [
        { turnId: 't2', text: '' },
        { turnId: 't1', text: 'h' },
      ],
    },
  )
  expect(rows.slice(-3).map(({ key }) => key)).toEqual(['reply:t1', 'event:6', 'reply:t2'])
})

test('leaves what waits for a confirmation in view', () => {
  const rows = rowsOf([
    ...exchange,
    event(6, 'proposal.made', { ...turn, payload: { proposalId: 'p', text: 'Delete it?' } }),
    event(7, 'chat.message.received', {
      spanId: 's1',
      turnId: 't2',
      payload: { text: 'bye', replaces: { turnId: 't1', seq: 2, sameWords: false } },
    }),
  ])
  expect(kindsOf(rows)).toEqual(['day', 'span', 'branch', 'proposal', 'message'])
})
