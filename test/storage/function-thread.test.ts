import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import {
  type FunctionThread,
  openFunctionThread,
  type ThreadFailed,
} from '../../src/storage/function-thread.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import type { mortalFunctions } from './mortal-thread.ts'

type MortalThread = FunctionThread<typeof mortalFunctions>

const LIMIT_MS = 1000

async function openThread(
  onFailure?: (failure: ThreadFailed) => void,
  idleMs?: number,
): Promise<MortalThread> {
  const directory = testDirectory()
  await openTestStorage(directory)
  const thread = openFunctionThread<typeof mortalFunctions>(
    new URL('./mortal-thread.ts', import.meta.url),
    directory,
    { limitMs: LIMIT_MS, onFailure, ...(idleMs === undefined ? {} : { idleMs }) },
  )
  onTestFinished(thread.close)
  return thread
}

/** The id of a new thread; ids increase with each thread that starts. */
async function nextThreadId(): Promise<number> {
  const worker = new Worker('', { eval: true })
  const { threadId } = worker
  await once(worker, 'exit')
  return threadId
}

test('starts the thread with the first call and keeps it', async () => {
  const thread = await openThread()
  const before = await nextThreadId()
  const first = await thread.ask('who', undefined)
  expect(first).toBeGreaterThan(before)
  expect(await thread.ask('who', undefined)).toBe(first)
})

test('ends an idle thread, and starts another with the next call', async () => {
  const thread = await openThread(undefined, 1)
  const first = await thread.ask('who', undefined)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await thread.ask('who', undefined)).toBeGreaterThan(first)
})

test('keeps an idle thread that is kept warm', async () => {
  const thread = await openThread(undefined, 1)
  thread.warm()
  const first = await thread.ask('who', undefined)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await thread.ask('who', undefined)).toBe(first)
})

test('starts the thread before the first call when warmed', async () => {
  const thread = await openThread()
  thread.warm()
  const after = await nextThreadId()
  thread.warm()
  expect(await thread.ask('who', undefined)).toBeLessThan(after)
})

test('keeps the thread after a call that throws', async () => {
  const thread = await openThread()
  const first = await thread.ask('who', undefined)
  await expect(thread.ask('fail', undefined)).rejects.toThrow('it failed')
  expect(await thread.ask('who', undefined)).toBe(first)
})

test.each([
  ['die', 'died'],
  ['hang', 'timed_out'],
] as const)(
  'reports a call that makes the thread %s and runs those behind it on a new thread',
  async (call, reason) => {
    const failures: ThreadFailed[] = []
    const thread = await openThread((failure) => failures.push(failure))
    const first = await thread.ask('who', undefined)
    const fatal = thread.ask(call, undefined)
    const waiting = thread.ask('who', undefined)
    await expect(fatal).rejects.toMatchObject({ name: 'ThreadFailed', reason })
    expect(await waiting).toBeGreaterThan(first)
    expect(failures).toMatchObject([{ reason, message: expect.stringContaining(`during ${call}`) }])
  },
)

test('gives a call behind a slow one its full time limit', async () => {
  const thread = await openThread()
  const answers = Array.from({ length: 3 }, () => thread.ask('pause', LIMIT_MS * 0.6))
  expect(await Promise.all(answers)).toHaveLength(3)
})

test('rejects a hanging call and ends its thread on close', async () => {
  const thread = await openThread()
  await thread.ask('who', undefined)
  const hanging = thread.ask('hang', undefined)
  const rejected = expect(hanging).rejects.toMatchObject({ message: 'the service is closing' })
  await thread.close()
  await rejected
})

test('lets a thread finish its start on close, because terminating it then may end the process', async () => {
  const directory = testDirectory()
  await openTestStorage(directory)
  const url = new URL('./slow-thread.ts', import.meta.url)
  const thread = openFunctionThread(url, directory, { closeGraceMs: 1 })
  thread.warm()
  await thread.close()
  expect(existsSync(join(directory, 'started'))).toBe(true)
})

test('restarts a warmed thread after it dies', async () => {
  const thread = await openThread()
  thread.warm()
  const first = await thread.ask('who', undefined)
  await expect(thread.ask('die', undefined)).rejects.toMatchObject({ name: 'ThreadFailed' })
  const after = await nextThreadId()
  const second = await thread.ask('who', undefined)
  expect(second).toBeGreaterThan(first)
  expect(second).toBeLessThan(after)
})

test('rejects calls and does not start after close', async () => {
  const thread = await openThread()
  await thread.close()
  thread.warm()
  await expect(thread.ask('who', undefined)).rejects.toMatchObject({ message: 'the thread is closed' })
})
