import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createContextQueries } from '../../projections/context.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter } from '../support/writer.ts'

const AT = { conversationId: 'c', channel: 'inner', actor: 'service' } as const
const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }

const compacted = (compactionId: string): NewEvent => ({
  type: 'context.compaction.succeeded',
  ...AT,
  facts: {
    compactionId,
    source: 'manual',
    method: 'model',
    model: { provider: 'p', model: 'm' },
    throughSeq: 1,
    inputTokensBefore: 10,
    inputTokensAfter: 5,
    usage: USAGE,
  },
  body: { text: 'All of it.', replacement: null },
})
const written: NewEvent = {
  type: 'context.capsule.written',
  ...AT,
  facts: { source: 'compaction', method: 'model', throughSeq: 1, usage: USAGE },
  body: { text: 'All of it.' },
}
const requested = (...seqs: number[]): NewEvent => ({
  type: 'erasure.requested',
  actor: 'owner',
  facts: {
    erasureId: 'e',
    target: 'message',
    targetId: null,
    from: null,
    to: null,
    eraseAt: '2030-01-01T00:01:00.000Z',
    part: 1,
    parts: 1,
    seqs,
    kinds: [],
  },
})
const undone = (...seqs: number[]): NewEvent => ({
  type: 'erasure.undone',
  actor: 'owner',
  facts: { erasureId: 'e', seqs, part: 1, parts: 1 },
})

test('hides a base and a capsule until their erasure is undone, and removes them once erased', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  const views = openViewsReadOnly(directory)
  const queries = createContextQueries(views)
  const seqs = () => [
    queries.base('c')?.seq,
    queries.bases('c').map(({ seq }) => seq),
    queries.capsule('c')?.seq,
  ]
  writer.append(
    { type: 'conversation.started', ...AT, facts: {} },
    compacted('old'),
    compacted('new'),
    written,
  )
  expect(seqs()).toEqual([3, [3, 2], 4])
  writer.append(requested(3, 4))
  expect(seqs()).toEqual([2, [2], undefined])
  writer.append(undone(3, 4))
  expect(seqs()).toEqual([3, [3, 2], 4])
  writer.append(requested(3, 4))
  writer.forget(3, 4)
  expect(seqs()).toEqual([2, [2], undefined])
  // An undo does not bring back what is erased.
  writer.append(undone(3, 4))
  expect(seqs()).toEqual([2, [2], undefined])
  views.close()
  writer.close()
})
