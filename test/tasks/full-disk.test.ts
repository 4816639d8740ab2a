import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import type { Client } from '../http/client.ts'
import { runScript } from '../scripts/run-script.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { startRunner, until } from './runner-harness.ts'
import { isAlive, startWithAssistant, type TimelineEvent } from './task-harness.ts'

/** A file that the program of a task creates once it runs. It holds its process id. */
const marker = () => join(testDirectory(), 'pid')

function smallDisk(skip: TestContext['skip']): SmallDisk {
  return mountSmallDisk(24) ?? skip('no file system can be mounted here')
}

/** Fills the disk until the ledger takes no fact: it may have room in its files. */
async function fill(disk: SmallDisk, client: Client): Promise<void> {
  disk.fill()
  const note = { title: 'Filler', content: 'x'.repeat(5_000) }
  await until(async () => (await client.post('/api/notes', note)).status === 503)
}

/** A service with a full disk, and a task whose program runs. */
async function startOnFullDisk(skip: TestContext['skip']) {
  const disk = smallDisk(skip)
  const file = marker()
  const assistant = await startWithAssistant({ directory: disk.directory })
  const id = await assistant.dispatch(steps({ tellSituation: file }, { hang: true }))
  await assistant.until('its program', async () =>
    (await assistant.events()).some(({ payload }: TimelineEvent) => payload.pid),
  )
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('}'))
  const { pid } = JSON.parse(readFileSync(file, 'utf8'))
  await fill(disk, assistant.client)
  expect(isAlive(pid)).toBe(true)
  return {
    ...assistant,
    disk,
    id,
    pid,
    state: async () => (await assistant.client.get('/api/halt')).json,
    /** How the task ended, by the facts. */
    ends: async () =>
      (await assistant.events())
        .filter(({ type }: TimelineEvent) => /^task\.(?:finished|failed|cancelled)$/.test(type))
        .map(({ type, payload }: TimelineEvent) => `${type} ${payload.by ?? payload.kind}`),
  }
}

test('ends a program on cancel while the disk is full, and records the cancellation later', async ({
  skip,
}) => {
  const { client, disk, id, pid, settled, ends } = await startOnFullDisk(skip)
  const answer = await client.post(`/api/tasks/${id}/cancel`)
  expect([answer.status, answer.json.detail]).toEqual([
    503,
    expect.stringContaining('See whether it was done before you repeat it. The disk is full.'),
  ])
  await until(() => !isAlive(pid))
  disk.free()
  expect(await settled(id)).toMatchObject({ status: 'cancelled', deliveryState: 'none' })
  expect(await ends()).toEqual(['task.cancelled owner'])
})

test('ends programs on a halt from the browser while the disk is full, and records both later', async ({
  skip,
}) => {
  const { client, disk, id, pid, settled, ends, state } = await startOnFullDisk(skip)
  const answer = await client.post('/api/halt')
  expect([answer.status, answer.json]).toEqual([200, { halted: true, since: null, by: null }])
  await until(() => !isAlive(pid))
  disk.free()
  await settled(id)
  expect(await ends()).toEqual(['task.cancelled owner'])
  await expect.poll(state, { timeout: 10_000 }).toMatchObject({ since: expect.any(String), by: 'browser' })
})

test('ends programs on a halt from the shell while the disk is full', async ({ skip }) => {
  const { disk, directory, id, pid, settled, ends, state } = await startOnFullDisk(skip)
  expect((await runScript('halt', directory)).code).toBe(0)
  await until(() => !isAlive(pid))
  expect(await state()).toEqual({ halted: true, since: null, by: null })
  disk.free()
  await settled(id)
  expect(await ends()).toEqual(['task.cancelled owner'])
})

test('is still halted after a restart if the disk was too full to record the halt', async ({ skip }) => {
  const disk = smallDisk(skip)
  const first = await startWholeService({ directory: disk.directory })
  await fill(disk, first.client)
  expect((await first.client.post('/api/halt')).json.halted).toBe(true)
  await first.stop()
  disk.free()
  const second = await startWholeService({ directory: disk.directory })
  expect((await second.client.get('/api/halt')).json).toMatchObject({
    halted: true,
    since: expect.any(String),
  })
})

test('ends a program at its time limit while the disk is full, and records that later', async ({ skip }) => {
  const disk = smallDisk(skip)
  const file = marker()
  const command = ['sh', '-c', `echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 600`]
  const { failed, fillLedger } = await startRunner({
    command,
    data: disk.directory,
    onFault: () => undefined,
  })
  await until(() => existsSync(file))
  disk.fill()
  await fillLedger()
  await until(() => !isAlive(Number(readFileSync(file, 'utf8'))))
  disk.free()
  expect(await failed()).toMatchObject({ kind: 'timeout', exitCode: null })
})
