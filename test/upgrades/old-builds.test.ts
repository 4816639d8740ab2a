// @module-tag long

import { spawnSync } from 'node:child_process'
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../http/client.ts'
import { testDirectory } from '../support/directory.ts'
import { hasProgram } from '../support/programs.ts'
import { PASSWORD } from '../support/service.ts'
import { startServiceProcess } from '../torture/service-process.ts'

const root = join(import.meta.dirname, '../..')
const MAIN = join(root, 'src/main.ts')

/** One commit of each time that wrote something else. */
const OLD_BUILDS = [
  ['853e5bbf', 'the first format of the ledger'],
  ['f18d04fb', 'the second format of the ledger'],
  ['16645422', 'fewer views'],
  ['004e6156', 'PostgreSQL'],
] as const

const WORDS = new Set(['chat.message.received', 'chat.reply.sent'])

/** The sources of a commit, with the modules of today; null if the history does not reach back to it. */
function checkOut(commit: string): string | null {
  if (!hasProgram('git') || !hasProgram('tar')) return null
  const archive = spawnSync('git', ['archive', commit], { cwd: root, maxBuffer: 512 * 1024 * 1024 })
  if (archive.status !== 0) return null
  const directory = testDirectory()
  const unpacked = spawnSync('tar', ['-x', '-C', directory], { input: archive.stdout })
  expect(unpacked.status).toBe(0)
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

/** Starts a build on a directory, signed in. Old builds need no set-up code. */
async function start(directory: string, main = MAIN) {
  const service = startServiceProcess(directory, {}, main)
  onTestFinished(service.kill)
  const client = createClient(await service.listening)
  const setupCode = service.setupCode()
  const installed = await client.post('/api/install', {
    password: PASSWORD,
    ...(setupCode === null ? {} : { setupCode }),
  })
  if (installed.status !== 201) expect((await client.post('/login', { password: PASSWORD })).status).toBe(200)
  return { service, client }
}

type Shown = { readonly type: string; readonly seq: number; readonly at: string; readonly payload: object }

/** What the owner sees. Memories fade by themselves. */
async function seen({ get }: ReturnType<typeof createClient>) {
  const [timeline, { memories }, { notes }] = await Promise.all(
    ['/api/timeline', '/api/memories', '/api/notes'].map(async (path) => (await get(path)).json),
  )
  return {
    words: timeline.events.flatMap(({ type, seq, at, payload }: Shown) =>
      WORDS.has(type) ? [{ type, seq, at, payload }] : [],
    ),
    memories: memories.map((memory: object) => ({ ...memory, strength: null })),
    notes,
  }
}

test.for(OLD_BUILDS)(
  'reads what build %s wrote (%s), and makes a backup that it restores',
  async ([commit], context) => {
    const build = checkOut(commit)
    if (build === null) return context.skip(`the history has no ${commit}, or git or tar is not installed`)
    const main = join(build, 'src/main.ts')
    const directory = testDirectory()
    const old = await start(directory, main)
    for (const content of [
      'My sister is called Ada.',
      'Write a note: buy green tea',
      'What is my sister called?',
    ])
      expect((await old.client.post('/api/chat', { content })).status).toBe(200)
    await expect.poll(async () => (await old.client.get('/api/memories')).text).toContain('called Ada')
    const before = await seen(old.client)
    expect(before).toMatchObject({ words: { length: 6 }, memories: { length: 1 }, notes: { length: 1 } })
    await old.service.stop()

    const today = await start(directory)
    expect(await seen(today.client)).toEqual(before)
    await today.service.stop()

    const restored = join(testDirectory(), 'data')
    const [backup = ''] = readdirSync(join(directory, 'upgrades'))
    const restore = spawnSync(
      process.execPath,
      [join(build, 'scripts/restore.ts'), join(directory, 'upgrades', backup)],
      { env: { ...process.env, DATA_DIR: restored }, encoding: 'utf8' },
    )
    expect([restore.stderr, restore.status]).toEqual(['', 0])
    expect(await seen((await start(restored, main)).client)).toEqual(before)
  },
)
