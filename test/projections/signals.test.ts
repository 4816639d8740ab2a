import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createSignalQueries, type SignalMode } from '../../projections/signals.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter } from '../support/writer.ts'

const raised = (signalId: string, mode: SignalMode, priority: number): NewEvent => ({
  type: 'signal.raised',
  actor: 'service',
  facts: { signalId, kind: 'noticed', mode, priority, dedupKey: signalId },
  body: { text: signalId },
})
const taken = (...signalIds: string[]): NewEvent => ({
  type: 'activation.started',
  actor: 'service',
  turnId: 't',
  facts: { activationId: 'a', signalIds, attempt: 1 },
})

function fold(...facts: NewEvent[]) {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (const fact of facts) writer.append(fact)
  writer.close()
  const views = openViewsReadOnly(directory)
  const queries = createSignalQueries(views)
  const ids = (rows: readonly { signalId: string }[]) => rows.map(({ signalId }) => signalId)
  const found = {
    waking: ids(queries.waking({ nowMs: Date.UTC(2031, 0, 1), longestWaitMs: 1000 })),
    riding: ids(queries.riding()),
    hasInterrupt: queries.hasInterrupt(),
  }
  views.close()
  return found
}

const EACH = [
  raised('w1', 'wake', 3),
  raised('n1', 'next-turn', 2),
  raised('i1', 'interrupt', 5),
  raised('a1', 'ambient', 7),
  raised('w2', 'wake', 9),
  raised('w3', 'wake', 3),
]

test('separates waking from attached signals, most urgent first, then oldest', () => {
  expect(fold(...EACH)).toEqual({
    waking: ['w2', 'i1', 'w1', 'w3'],
    riding: ['a1', 'n1'],
    hasInterrupt: true,
  })
})

test('raises no interrupt for a signal that waits for its retry', () => {
  const failed: NewEvent = {
    type: 'activation.failed',
    actor: 'service',
    facts: {
      activationId: 'a',
      signalIds: ['w2', 'i1'],
      kind: 'timeout',
      attempt: 1,
      final: false,
      retryAt: '2032-01-01T00:00:00.000Z',
    },
  }
  expect(fold(...EACH, taken('w2', 'i1'), failed).hasInterrupt).toBe(false)
})

test('neither wakes nor interrupts for a signal that an activation has taken', () => {
  expect(fold(...EACH, taken('w2', 'i1'))).toEqual({
    waking: ['w1', 'w3'],
    riding: ['a1', 'n1'],
    hasInterrupt: false,
  })
})

test("lists the earlier tries of a turn's signals, oldest first, until they are dismissed", () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  const tried = (turnId: string, ...signalIds: string[]): NewEvent[] => {
    const facts = { activationId: `a-${turnId}`, signalIds }
    const place = { actor: 'service', turnId } as const
    const retry = { kind: 'unavailable', final: false, retryAt: null } as const
    return [
      { type: 'activation.started', ...place, facts: { ...facts, attempt: 1 } },
      { type: 'activation.failed', ...place, facts: { ...facts, attempt: 1, ...retry } },
    ]
  }
  const dismissed = (...signalIds: string[]): NewEvent => ({
    type: 'signal.dismissed',
    actor: 'service',
    facts: { signalIds, reason: 'superseded' },
  })
  const facts = [
    ...EACH,
    ...tried('z', 'w1'),
    ...tried('y', 'w2'),
    ...tried('x', 'w2', 'w3'),
    ...tried('v', 'w1', 'w2'),
  ]
  for (const fact of facts) writer.append(fact)
  const views = openViewsReadOnly(directory)
  const { triedBefore } = createSignalQueries(views)
  expect(['z', 'y', 'x', 'v', 'nobody'].map((turnId) => triedBefore(turnId))).toEqual([
    [],
    [],
    ['y'],
    ['z', 'y', 'x'],
    [],
  ])
  writer.append(dismissed('w2'))
  expect(triedBefore('v')).toEqual(['z'])
  views.close()
  writer.close()
})
