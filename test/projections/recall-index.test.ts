import type Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { createRecallRanker } from '../../src/memory/recall/ranker.ts'
import { filesHolding } from '../support/directory.ts'
import { exampleOf } from '../support/facts.ts'
import { said, type TestWriter } from '../support/writer.ts'
import { openWriterAndViews } from '../support/writer-and-views.ts'

const replied = (text: string): NewEvent => ({
  type: 'chat.reply.sent',
  actor: 'delegate',
  channel: 'chat',
  facts: {},
  body: { text },
})

const call = (party: 'owner' | 'guest', text: string): NewEvent[] => {
  const callSid = `call-of-${party}`
  const reply = { callSid, itemId: 'i', responseId: null, heardMs: 1, sentMs: 1, interrupted: false }
  return [
    { type: 'call.offered', actor: party, channel: 'voice', facts: { callSid, party }, body: { from: '+1' } },
    { type: 'call.connected', actor: party, channel: 'voice', facts: { callSid, streamSid: 's', party } },
    {
      type: 'call.utterance.heard',
      actor: party,
      channel: 'voice',
      facts: { callSid, itemId: 'i', party, transcribed: true },
      body: { text: `${text} asked` },
    },
    {
      type: 'call.reply.spoken',
      actor: 'delegate',
      channel: 'voice',
      facts: reply,
      body: { text: `${text} answered`, generatedText: `${text} answered at length` },
    },
  ]
}

const texted = (party: 'owner' | 'guest', text: string): NewEvent[] => [
  {
    type: 'sms.received',
    actor: party,
    channel: 'sms',
    facts: { messageSid: `sid-${party}`, party, segments: 1, mediaTypes: [], replyBy: 'rest' },
    body: { from: '+1', to: '+2', text: `${text} asked` },
  },
  {
    type: 'sms.sent',
    actor: 'delegate',
    channel: 'sms',
    facts: { messageSid: `reply-${party}`, party, segments: 1 },
    body: { to: '+1', text: `${text} answered` },
  },
]

const barred = (sourceSeqs: number[]): NewEvent => ({
  type: 'memory.sources.barred',
  actor: 'owner',
  facts: { sourceSeqs, by: 'owner' },
})

const kept = (sourceSeqs: number[]): NewEvent => ({
  type: 'memory.sources.kept',
  actor: 'owner',
  facts: { sourceSeqs },
})

const stored = (text: string, memoryId = 'm1', sourceSeqs: number[] = []): NewEvent => {
  const example = exampleOf('memory.stored', { derivedFrom: sourceSeqs })
  if (example.type !== 'memory.stored') throw new Error('unexpected example')
  return {
    ...example,
    facts: { ...example.facts, memoryId, sourceSeqs, supersedes: null, linkedTo: null },
    body: { ...example.body, text },
  }
}

const deleted = (memoryId: string, sourceSeqs: number[]): NewEvent => ({
  type: 'memory.deleted',
  actor: 'owner',
  facts: { memoryId, sourceSeqs, by: 'owner' },
})

function find(writer: TestWriter, views: Database.Database, text: string): number[] {
  writer.settle()
  const hits = createRecallRanker({ views }).recall({
    text,
    asker: null,
    nowMs: Date.UTC(2030, 0, 2),
    timezone: 'UTC',
    isRead: false,
    names: { owner: [], delegate: [] },
    beforeSeq: Number.MAX_SAFE_INTEGER,
    excludedSeqs: new Set(),
  })
  // The neighbours of a matching turn are candidates as well.
  return hits
    .filter(({ relevance }) => relevance === 1)
    .map(({ seq }) => seq)
    .sort((a, b) => a - b)
}

test('recalls memories and what owner and delegate said on every channel', () => {
  const { writer, views } = openWriterAndViews()
  writer.append(said('tulips in chat'), replied('tulips indeed'))
  writer.append(...call('owner', 'tulips by phone'))
  writer.append(...texted('owner', 'tulips by text'))
  writer.append(stored('likes tulips'))
  expect(find(writer, views, 'tulips')).toEqual([1, 2, 5, 6, 7, 8, 9])
})

test('does not recall replies that are stock or by the builtin model', () => {
  const { writer, views } = openWriterAndViews()
  const started = (turnId: string, provider: string): NewEvent => {
    const example = exampleOf('turn.started', {})
    if (example.type !== 'turn.started') throw new Error('unexpected example')
    return { ...example, turnId, facts: { ...example.facts, model: { provider, model: 'm' } } }
  }
  writer.append(said('I grow tulips'), started('a', 'builtin'), started('b', 'openai'))
  writer.append({ ...replied('You told me: you grow tulips.'), turnId: 'a' })
  writer.append({ ...replied('You grow tulips.'), turnId: 'b' }, { ...replied('Oh, tulips!'), turnId: 'b' })
  expect(find(writer, views, 'tulips')).toEqual([1, 5])
})

test('does not recall the words of guests, replies to them, or inner events', () => {
  const { writer, views } = openWriterAndViews()
  writer.append(...call('guest', 'tulips'))
  writer.append(...texted('guest', 'tulips'))
  for (const type of [
    'note.created',
    'signal.raised',
    'memory.discarded',
    'tool.returned',
    'context.capsule.written',
  ] as const)
    writer.append(exampleOf(type, {}))
  writer.settle()
  expect(views.prepare('SELECT count(*) AS count FROM recall_entries').get()).toEqual({ count: 0 })
})

test('removes the sources of a forgotten memory from recall, but not from the timeline', () => {
  const { writer, views } = openWriterAndViews()
  writer.append(said('I grow tulips'), replied('Noted.'))
  writer.append(stored('grows tulips', 'm1', [1]))
  expect(find(writer, views, 'tulips')).toContain(1)
  writer.append(deleted('m1', [1]))
  writer.forget(3)
  expect(find(writer, views, 'tulips')).toEqual([])
  expect(writer.ledger.readSeqs([1])).toMatchObject([{ body: { text: 'I grow tulips' } }])
})

test('does not recall barred words from which nothing was learned', () => {
  const { writer, views } = openWriterAndViews()
  writer.append(said('I grow tulips'))
  writer.append(barred([1]))
  expect(find(writer, views, 'tulips')).toEqual([])
})

test('recalls barred words again that the owner keeps, in their place', () => {
  const { writer, views } = openWriterAndViews()
  writer.append(said('before'), said('I grow tulips'), said('after'))
  writer.settle()
  const entries = () => views.prepare('SELECT * FROM recall_entries ORDER BY id').all()
  const before = entries()
  writer.append(barred([2]))
  expect(find(writer, views, 'tulips')).toEqual([])
  writer.append(kept([2]), kept([2]))
  expect(find(writer, views, 'tulips')).toEqual([2])
  expect(entries()).toEqual(before)
})

test('recalls no forgotten words that the owner had barred, although they are kept', () => {
  const { directory, writer, views } = openWriterAndViews()
  writer.append(said('I grow secretbirds'))
  writer.append(barred([1]))
  writer.settle()
  views.close()
  writer.forget(1)
  expect(filesHolding(directory, 'secretbird')).toEqual([])
  writer.append(kept([1]))
  writer.settle()
  const now = openViewsReadOnly(directory)
  expect(now.prepare('SELECT * FROM recall_entries').all()).toEqual([])
  now.close()
})

test('removes erased words from every file and keeps the positions of other turns', () => {
  const { directory, writer, views } = openWriterAndViews()
  writer.append(said('before'), said('the secretbird sings'), said('after'))
  writer.settle()
  expect(filesHolding(directory, 'secretbird')).not.toEqual([])
  views.close()
  writer.forget(2)
  expect(filesHolding(directory, 'secretbird')).toEqual([])
  writer.append(said('later'))
  writer.settle()
  const now = openViewsReadOnly(directory)
  expect(now.prepare('SELECT id, seq FROM recall_entries ORDER BY id').all()).toEqual([
    { id: 1, seq: 1 },
    { id: 3, seq: 3 },
    { id: 4, seq: 5 },
  ])
  now.close()
})
