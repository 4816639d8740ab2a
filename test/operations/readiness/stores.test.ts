import { closeSync, openSync, renameSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../http/client.ts'
import { testDirectory } from '../../support/directory.ts'
import { startWholeService, type WholeService } from '../../support/service.ts'

/** Zeroes a file from its second page on, as a failing disk might. */
function zero(file: string): void {
  const descriptor = openSync(file, 'r+')
  const { size } = statSync(file)
  writeSync(descriptor, Buffer.alloc(size - 4096), 0, size - 4096, 4096)
  closeSync(descriptor)
}

async function talk({ client }: WholeService): Promise<void> {
  for (const name of ['Ada', 'Bo', 'Cy'])
    expect(
      (await client.post('/api/chat', { content: `Remember that my friend is called ${name}.` })).status,
    ).toBe(200)
}

async function readiness({ client }: WholeService) {
  const { status, json } = await client.get('/ready')
  return { status, checks: json.checks }
}

test('is ready while nothing is wrong, and reports the free space', async () => {
  const service = await startWholeService()
  await talk(service)
  expect(await readiness(service)).toMatchObject({
    status: 200,
    checks: {
      ledger: { ok: true },
      projections: { ok: true },
      reactors: { ok: true },
      settings: { ok: true },
      disk: { ok: true, detail: expect.stringMatching(/^\d+ [MG]B free$/) },
    },
  })
})

test('is not ready with zeroed pages in the ledger, although SQLite still has them cached', async () => {
  const directory = (await ended()).directory
  const service = await startWholeService({ directory })
  await service.client.get('/api/timeline')
  zero(join(directory, 'ledger.sqlite'))
  await expect
    .poll(() => readiness(service))
    .toMatchObject({
      status: 503,
      checks: { ledger: { ok: false, detail: expect.stringContaining('damaged') } },
    })
})

test('is not ready with zeroed pages in the settings', async () => {
  const service = await startWholeService()
  zero(join(service.directory, 'settings.sqlite'))
  const stranger = createClient(service.port)
  await expect
    .poll(async () => (await stranger.get('/ready')).json)
    .toMatchObject({
      status: 503,
      detail: 'Not ready: settings.',
      checks: { ledger: { ok: true }, settings: { ok: false } },
    })
})

test.each([
  ['ledger.sqlite', /replaced\. Put it back, or re/],
  ['settings.sqlite', /replaced\. Put it back, or re/],
  ['views.sqlite', /replaced\. Restart Delegate, which rebuilds it\.$/],
  ['views.sqlite-wal', /replaced\. Restart Delegate, which rebuilds it\.$/],
] as const)(
  'is not ready while %s is missing, says what to do, and is ready again when it is put back',
  async (name, remedy) => {
    const service = await startWholeService()
    await talk(service)
    const file = join(service.directory, name)
    const check = name.startsWith('views') ? 'projections' : name.replace('.sqlite', '')
    renameSync(file, `${file}.away`)
    await expect
      .poll(() => readiness(service))
      .toMatchObject({
        status: 503,
        checks: { [check]: { ok: false, detail: expect.stringMatching(remedy) } },
      })
    renameSync(`${file}.away`, file)
    await expect.poll(() => readiness(service)).toMatchObject({ status: 200 })
  },
)

test('says in refusals that the settings were moved, and blames no disk', async () => {
  const { directory, client } = await startWholeService()
  const file = join(directory, 'settings.sqlite')
  renameSync(file, `${file}.away`)
  const language = { entries: { LANGUAGE: 'en' } }
  expect((await client.put('/api/config', language)).json).toMatchObject({
    status: 503,
    code: 'storage_unavailable',
    detail: expect.stringMatching(/moved, deleted or replaced\. Put it back/),
  })
  renameSync(`${file}.away`, file)
  expect((await client.put('/api/config', language)).status).toBe(200)
})

test('is not ready without the key of the secrets, and tells the owner why', async () => {
  const service = await startWholeService()
  await service.client.put('/api/config', { entries: { OPENAI_API_KEY: 'sk-test-of-the-readiness' } })
  expect(await readiness(service)).toMatchObject({ status: 200 })
  rmSync(join(service.directory, 'secret.key'))
  await expect
    .poll(() => readiness(service))
    .toMatchObject({
      status: 503,
      checks: {
        settings: { ok: false, detail: expect.stringMatching(/^secret\.key was deleted\. Put it back:/) },
      },
    })
})

test('is not ready if the key of the secrets is deleted right after the start', async () => {
  const { directory, client, stop } = await startWholeService()
  await client.put('/api/config', { entries: { OPENAI_API_KEY: 'sk-test-of-the-readiness' } })
  await stop()
  const service = await startWholeService({ directory })
  rmSync(join(directory, 'secret.key'))
  expect(await readiness(service)).toMatchObject({ status: 503, checks: { settings: { ok: false } } })
})

test('names what is unset while the key of the secrets is missing since the start, and how to go on', async () => {
  const { directory, client, stop } = await startWholeService()
  const entries = {
    OPENAI_API_KEY: 'sk-test-of-the-readiness',
    BACKUP_DIRECTORY: testDirectory(),
    BACKUP_PASSPHRASE: 'seven grey herons',
  }
  expect((await client.put('/api/config', { entries })).status).toBe(200)
  await stop()
  rmSync(join(directory, 'secret.key'))
  const service = await startWholeService({ directory })
  expect(await readiness(service)).toMatchObject({
    status: 200,
    checks: {
      settings: { ok: true },
      secrets: { ok: false, detail: expect.stringContaining('BACKUP_PASSPHRASE, OPENAI_API_KEY') },
      backups: { ok: false, detail: expect.stringContaining('secret.key is missing') },
    },
  })

  const passphrase = { entries: { BACKUP_PASSPHRASE: 'eight grey herons' } }
  expect(await service.client.put('/api/config', passphrase)).toMatchObject({
    status: 409,
    json: { code: 'secret_key_missing', detail: expect.stringContaining('OPENAI_API_KEY') },
  })
  expect((await service.client.post('/api/push/key')).status).toBe(409)
  expect((await service.client.delete('/api/config/OPENAI_API_KEY')).status).toBe(200)
  expect((await service.client.put('/api/config', passphrase)).status).toBe(200)
  await expect
    .poll(() => readiness(service))
    .toMatchObject({ status: 200, checks: { settings: { ok: true }, backups: { ok: true } } })
})

test.each([
  ['lost', (file: string) => rmSync(file)],
  ['emptied', (file: string) => truncateSync(file)],
] as const)('is not ready without a password, after the settings were %s', async (_how, lose) => {
  const { directory, stop } = await startWholeService()
  await stop()
  lose(join(directory, 'settings.sqlite'))
  const service = await startWholeService({ directory, installed: false })
  expect((await service.client.get('/ready')).json).toMatchObject({
    status: 503,
    checks: { settings: { ok: false } },
  })
  await expect.poll(() => service.written.join('\n')).toMatch(/no password.*npm run owner:reset-password/)
})

test('needs no password before it is installed', async () => {
  const service = await startWholeService({ installed: false })
  expect((await service.client.get('/ready')).json.checks.settings).toEqual({ ok: true })
})

/** A directory whose facts are in the database file and not in its log. */
async function ended(): Promise<WholeService> {
  const service = await startWholeService()
  await talk(service)
  await service.stop()
  return service
}
