import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startVerification, type Verification } from '../../src/storage/verification.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

test('a walk that is told to stop ends by itself, wherever it is, and tells nothing after', async () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  onTestFinished(() => writer.close())
  for (let round = 0; round < 20; round += 1)
    writer.append(...Array.from({ length: 500 }, (_, index) => said(`tea ${index}`)))
  // A thread that is ended from outside while it loads SQLite takes the process along.
  const terminate = vi.spyOn(Worker.prototype, 'terminate')
  onTestFinished(() => terminate.mockRestore())
  let toldAfter = 0
  for (const afterMs of [0, 1, 30, 60, 100, 150, 250, 400]) {
    let isStopped = false
    const told = (_outcome: Verification) => {
      if (isStopped) toldAfter += 1
    }
    const walk = startVerification({
      directory,
      afterMs: 0,
      onVerified: told,
      rebuildViews: async () => undefined,
    })
    await delay(afterMs)
    isStopped = true
    await walk.stop()
  }
  expect(terminate).not.toHaveBeenCalled()
  expect(toldAfter).toBe(0)
})
