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

test('what wakes and what rides along keep apart, the most urgent first, then the oldest', () => {
  expect(fold(...EACH)).toEqual({
    waking: ['w2', 'i1', 'w1', 'w3'],
    riding: ['a1', 'n1'],
    hasInterrupt: true,
  })
})

test('what an activation has taken neither wakes nor interrupts another', () => {
  expect(fold(...EACH, taken('w2', 'i1'))).toEqual({
    waking: ['w1', 'w3'],
    riding: ['a1', 'n1'],
    hasInterrupt: false,
  })
})
