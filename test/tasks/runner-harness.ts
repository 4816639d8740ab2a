import { onTestFinished } from 'vitest'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import { createPlacement } from '../../src/storage/placement.ts'
import { createIsolation } from '../../src/tasks/isolation.ts'
import { createTaskRunner } from '../../src/tasks/runner.ts'
import { createTaskStore, type TaskStore } from '../../src/tasks/task-store.ts'
import { createTasks } from '../../src/tasks/tasks.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId, said } from '../support/writer.ts'

/** Gives up on a condition that never holds. */
const GIVE_UP_MS = 120_000

export async function until<T>(
  find: () => Promise<T | null | undefined | false> | T | null | undefined | false,
): Promise<T> {
  for (const untilMs = performance.now() + GIVE_UP_MS; performance.now() < untilMs; ) {
    const found = await find()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('timed out waiting')
}

/** A runner on its own storage. `append` stands in for that of its store. */
export async function startRunner(options: {
  readonly command: readonly string[]
  readonly data?: string
  readonly append?: (append: TaskStore['append']) => TaskStore['append']
  readonly onFault?: (error: unknown) => void
}) {
  const storage = await openTestStorage(options.data ?? testDirectory())
  const onFault =
    options.onFault ??
    ((error: unknown) => {
      throw error
    })
  const nowMs = Date.now
  const placement = createPlacement({ append: storage.append, views: storage.views, newId })
  const store = createTaskStore({ storage, placement, nowMs, onFault })
  const directory = testDirectory()
  const runner = createTaskRunner({
    store: { ...store, append: options.append?.(store.append) ?? store.append },
    command: options.command,
    environment: () => ({ PATH: process.env.PATH ?? '' }),
    dataDir: directory,
    directory: () => directory,
    isolation: createIsolation({ choice: 'none', user: null, dataDir: directory, environment: () => ({}) }),
    callbackUrl: () => 'http://127.0.0.1:9/',
    limit: () => 1,
    isHeld: () => false,
    isHalted: () => false,
    isHaltPending: () => false,
    mayAct: () => true,
    cancel: async () => undefined,
    mask: (text) => text,
    nowMs,
    onFault,
    minuteMs: 500,
    outputEveryMs: 50,
  })
  const api = createTasks({
    store,
    endProcess: runner.end,
    deliverAgain: async () => undefined,
    isConfigured: true,
    defaultChannel: () => 'chat',
    timeoutMinutes: () => 3,
  })
  runner.start()
  onTestFinished(async () => {
    await runner.close()
    await store.close()
  })
  const dispatched = await api.dispatch({ title: 'Count', prompt: 'Count.' }, { by: 'owner' })
  const id = dispatched?.id ?? ''
  return {
    /** Appends facts until the disk takes no more. */
    async fillLedger(): Promise<void> {
      for (let isFull = false; !isFull; )
        await storage.append([said('x'.repeat(5_000))]).catch((error: unknown) => {
          if (!(error instanceof LedgerUnavailable)) throw error
          isFull = true
        })
    },
    failed: () =>
      until(() => {
        const found = api.get(id)
        return found?.status === 'failed' ? found : null
      }),
  }
}
