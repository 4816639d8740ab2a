import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { type FunctionThread, openFunctionThread } from '../../src/storage/function-thread.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import type { mortalFunctions } from './mortal-thread.ts'

type MortalThread = FunctionThread<typeof mortalFunctions>

async function openThread(): Promise<MortalThread> {
  const directory = testDirectory()
  await openTestStorage(directory)
  const thread = openFunctionThread<typeof mortalFunctions>(
    new URL('./mortal-thread.ts', import.meta.url),
    directory,
  )
  onTestFinished(thread.close)
  return thread
}

/** Threads are numbered as they are made: those made later have a higher number. */
async function numberNow(): Promise<number> {
  const worker = new Worker('', { eval: true })
  const { threadId } = worker
  await once(worker, 'exit')
  return threadId
}

test('it starts with the first question, and stays', async () => {
  const thread = await openThread()
  const before = await numberNow()
  const first = await thread.ask('who', undefined)
  expect(first).toBeGreaterThan(before)
  expect(await thread.ask('who', undefined)).toBe(first)
})

test('warmed, it is there before the first question', async () => {
  const thread = await openThread()
  thread.warm()
  const after = await numberNow()
  thread.warm()
  expect(await thread.ask('who', undefined)).toBeLessThan(after)
})

test('a question that fails costs nothing else', async () => {
  const thread = await openThread()
  const first = await thread.ask('who', undefined)
  await expect(thread.ask('fail', undefined)).rejects.toThrow('it cannot be told')
  expect(await thread.ask('who', undefined)).toBe(first)
})

test('a question that brings it down costs those that wait; the next finds a new thread', async () => {
  const thread = await openThread()
  const first = await thread.ask('who', undefined)
  const fatal = thread.ask('die', undefined)
  const waiting = thread.ask('who', undefined)
  await expect(fatal).rejects.toMatchObject({ name: 'QueryFailed', message: 'the thread failed' })
  await expect(waiting).rejects.toMatchObject({ name: 'QueryFailed' })
  const before = await numberNow()
  expect(await thread.ask('who', undefined)).toBeGreaterThan(Math.max(first, before))
})

test('one that was warmed is there again by itself', async () => {
  const thread = await openThread()
  thread.warm()
  const first = await thread.ask('who', undefined)
  await expect(thread.ask('die', undefined)).rejects.toMatchObject({ name: 'QueryFailed' })
  const after = await numberNow()
  const second = await thread.ask('who', undefined)
  expect(second).toBeGreaterThan(first)
  expect(second).toBeLessThan(after)
})

test('closed, it answers nothing and does not start', async () => {
  const thread = await openThread()
  await thread.close()
  thread.warm()
  await expect(thread.ask('who', undefined)).rejects.toMatchObject({ message: 'the thread is closed' })
})
