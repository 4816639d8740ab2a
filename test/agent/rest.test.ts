import { expect, onTestFinished, test } from 'vitest'
import { createLanes } from '../../src/agent/lanes.ts'

const HOUR_MS = 3_600_000

type LaneOptions = Parameters<typeof createLanes>[0]

test('starts by itself 120 times an hour at most, however often it wakes itself', async () => {
  let nowMs = Date.parse('2026-06-02T12:00:00Z')
  let started = 0
  const warnings: string[] = []
  const { attention } = createLanes({
    turns: { unfinished: () => [], isReplaced: () => false } as unknown as LaneOptions['turns'],
    // Each activation raises the next signal.
    signals: {
      waking: () => [{ signalId: String(started), attempts: 0 }],
      hasInterrupt: () => false,
      nextRetryAt: () => null,
    } as unknown as LaneOptions['signals'],
    append: async () => ({ status: 'appended', events: [] }) as never,
    runTurn: async () => undefined,
    runGuestTurn: async () => undefined,
    async runActivation() {
      started += 1
    },
    compactIfDue: async () => undefined,
    recover: async () => undefined,
    mayAskModel: () => true,
    isHalted: () => false,
    onHeadMoved: () => () => undefined,
    nowMs: () => nowMs,
    log: { warn: (_fields: object, text: string) => warnings.push(text) } as unknown as LaneOptions['log'],
    onFault: () => undefined,
    onGuestFault: () => undefined,
  })
  onTestFinished(() => attention.close(0))
  attention.start()
  await expect.poll(() => warnings).toEqual(['woke too often: the next activations wait'])
  expect(started).toBe(120)
  nowMs += HOUR_MS
  await attention.exclusively(async () => undefined)
  await expect.poll(() => started).toBe(240)
})
