import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startVerification, type Verification } from '../../src/storage/verification.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

test('stops a verification at any point without terminating its thread, and reports nothing afterwards', {
  tags: ['long'],
}, async () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  onTestFinished(() => writer.close())
  for (let round = 0; round < 20; round += 1)
    writer.append(...Array.from({ length: 500 }, (_, index) => said(`tea ${index}`)))
  // Terminating a thread while it loads SQLite would crash the process.
  const terminate = vi.spyOn(Worker.prototype, 'terminate')
  onTestFinished(() => terminate.mockRestore())
  let lateReports = 0
  for (const afterMs of [0, 1, 30, 60, 100, 150, 250, 400]) {
    let isStopped = false
    const onVerified = (_outcome: Verification) => {
      if (isStopped) lateReports += 1
    }
    const walk = startVerification({
      directory,
      afterMs: 0,
      nowMs: Date.now,
      onVerified,
      rebuildViews: async () => undefined,
    })
    await delay(afterMs)
    isStopped = true
    await walk.stop()
  }
  expect(terminate).not.toHaveBeenCalled()
  expect(lateReports).toBe(0)
})
