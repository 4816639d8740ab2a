// @module-tag long

import { expect, test } from 'vitest'
import { beganWhileHalted, haltUnderFire } from './halts.ts'
import { inTemporaryDirectory } from './temporary.ts'

test('has no effect while halted, whatever the model does and however often it is killed', async () => {
  await inTemporaryDirectory(async (directory) => {
    const report = await haltUnderFire({ directory, rounds: 4, seed: 3 })
    expect(report.flaws).toEqual([])
    expect(report.effectsWhileHalted).toBe(0)
    expect(report.refusedCalls).toBeGreaterThan(0)
    expect(report.compactions).toBeGreaterThan(0)
    // Proves that the doubles would notice.
    for (const count of Object.values(report.effects)) expect(count).toBeGreaterThan(0)
  })
})

test('notices what begins while halted', () => {
  const fact = (seq: number, type: string, turnId: string | null = null, causedBy: number | null = null) =>
    ({ seq, type, facts: {}, key: null, turnId, causedBy, at: new Date(seq).toISOString() }) as never
  const events = [fact(1, 'delegation.halted'), fact(2, 'activation.started'), fact(3, 'delegation.released')]
  expect(beganWhileHalted(events)).toHaveLength(1)
  expect(
    beganWhileHalted([...events.slice(0, 1), fact(2, 'delegation.released'), fact(3, 'activation.started')]),
  ).toEqual([])

  const halted = [fact(1, 'sms.received', 'a'), fact(2, 'delegation.halted')]
  expect(beganWhileHalted([...halted, fact(3, 'turn.started', 'a', 1)])).toEqual([])
  expect(beganWhileHalted([...halted, fact(5_000, 'turn.started', 'a', 1)])).toHaveLength(1)
  expect(
    beganWhileHalted([...halted, fact(3, 'turn.started', 'a', 1), fact(4, 'tool.called', 'a', 3)]),
  ).toHaveLength(1)
  expect(
    beganWhileHalted([...halted, fact(3, 'sms.received', 'b'), fact(4, 'turn.started', 'b', 3)]),
  ).toHaveLength(1)
})
