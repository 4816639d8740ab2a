// @module-tag long

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Client, createClient } from '../http/client.ts'
import { runScript } from '../scripts/run-script.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD } from '../support/service.ts'
import { startServiceProcess } from '../torture/service-process.ts'

/** Starts the service in a process of its own, with the builtin model, and signs in. */
async function start(directory: string) {
  const service = startServiceProcess(directory)
  onTestFinished(() => service.kill())
  const client = createClient(await service.listening)
  const setupCode = service.setupCode()
  if (setupCode === null) await client.post('/login', { password: PASSWORD })
  else await client.post('/api/install', { password: PASSWORD, setupCode })
  return { service, client }
}

/** What the owner sees of the memories, and what the model is given of them. */
async function stateOf(client: Client) {
  const { memories, pinnedTokens } = (await client.get('/api/memories')).json
  await client.put('/memory-config', { retrieveTimeoutMs: 5000 })
  const { turnId } = (await client.post('/api/chat', { content: 'Who is my dentist?' })).json
  const { memories: given } = (await client.get(`/api/turns/${turnId}`)).json
  // Each question uses them.
  const use = { strength: 0, reinforcements: 0, lastReinforcedAt: '', lastSurfacedAt: '' }
  return {
    memories: memories.map((memory: object) => ({ ...memory, ...use })),
    pinnedTokens,
    given: given.map(({ text }: { text: string }) => text),
  }
}

test('edited memories survive kill -9, a rebuild of the views, export and import', async () => {
  const directory = testDirectory()
  const { service, client } = await start(directory)
  const add = async (text: string) => (await client.post('/api/memories', { text })).json.id as string
  await client.post('/api/chat', { content: 'My dentist is Dr Weber.' })
  await expect.poll(async () => (await client.get('/api/memories')).json.count).toBe(1)
  const [learned] = (await client.get('/api/memories')).json.memories
  await client.put(`/api/memories/${learned.id}`, { text: 'My dentist is Dr Okafor' })
  const ids = [await add('I own a canoe'), await add('My canoe is green')]
  await client.post('/api/memories/merge', { ids, text: 'I own a green canoe' })
  await client.put(`/api/memories/${await add('Always answer me in Welsh')}`, { pinned: true })
  await service.kill()

  const killed = await start(directory)
  const before = await stateOf(killed.client)
  expect(before.given).toEqual(['Always answer me in Welsh', 'My dentist is Dr Okafor'])
  expect(before.memories.map(({ text }: { text: string }) => text).sort()).toEqual([
    'Always answer me in Welsh',
    'I own a green canoe',
    'My dentist is Dr Okafor',
  ])
  await killed.service.stop()

  rmSync(join(directory, 'views.sqlite'))
  const rebuilt = await start(directory)
  expect(await stateOf(rebuilt.client)).toEqual(before)
  await rebuilt.service.stop()

  const [file, target] = [join(testDirectory(), 'ledger.jsonl'), join(testDirectory(), 'data')]
  expect((await runScript('ledger-export', directory, [file])).code).toBe(0)
  expect((await runScript('ledger-import', target, [file])).code).toBe(0)
  // The password is not in the ledger.
  cpSync(join(directory, 'settings.sqlite'), join(target, 'settings.sqlite'))
  const imported = await start(target)
  expect(await stateOf(imported.client)).toEqual(before)
})
