import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createSignalQueries } from '../../projections/signals.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { createActivationRunner } from '../../src/agent/activation.ts'
import { createLanes } from '../../src/agent/lanes.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

const HOUR_MS = 3_600_000

test('starts by itself 120 times an hour at most, however often it wakes itself', async () => {
  let nowMs = Date.UTC(2030, 0, 1)
  const storage = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  const { append, ledger, views } = storage
  const turns = createTurnQueries(views)
  const signals = createSignalQueries(views)
  const lines: string[] = []

  async function wake(): Promise<void> {
    const signalId = newId()
    const facts = { signalId, kind: 'timer_due', mode: 'wake', priority: 5, dedupKey: signalId } as const
    await append([{ type: 'signal.raised', actor: 'service', facts, body: { text: 'Now' } }])
  }
  const { runActivation } = createActivationRunner({
    append,
    ledger,
    openConversationId: () => 'c',
    // Each activation wakes the delegate again.
    runTurn: wake,
    turnById: turns.byId,
    unfinishedTurns: turns.unfinished,
    newId,
    nowMs: () => nowMs,
  })
  const { attention } = createLanes({
    ...storage,
    turns,
    signals,
    runActivation,
    runTurn: async () => undefined,
    runGuestTurn: async () => undefined,
    compactIfDue: async () => undefined,
    recover: async () => undefined,
    mayAskModel: () => true,
    isHalted: () => false,
    nowMs: () => nowMs,
    log: pino({ base: null }, { write: (line) => lines.push(line) }),
    onFault: () => undefined,
    onGuestFault: () => undefined,
  })
  onTestFinished(() => attention.close(0))
  const started = () => ledger.readAfter(0, 10_000).filter(({ type }) => type === 'activation.started').length
  attention.start()
  await wake()
  await expect.poll(() => lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ mostAnHour: 120, until: '2030-01-01T01:00:00.000Z' })
  await wake()
  expect(started()).toBe(120)
  nowMs += HOUR_MS
  await wake()
  await expect.poll(started).toBe(240)
})
