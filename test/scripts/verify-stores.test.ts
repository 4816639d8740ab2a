import { closeSync, openSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { closing } from '../../ledger/closing.ts'
import { openSecretBox } from '../../src/settings/secrets.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { fillDirectory, runScript } from './run-script.ts'

function overwrite(file: string): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(statSync(file).size - 4096, 0xa5), 0, undefined, 4096)
  closeSync(descriptor)
}

/** The directory of a stopped service with a secret setting. */
async function stopped(): Promise<string> {
  const { client, directory, stop } = await startWholeService()
  await client.put('/api/config', { entries: { OPENAI_API_KEY: 'sk-test-of-verifying' } })
  await stop()
  return directory
}

test('says that the settings are missing, or empty', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 1)
  const missing = expect.stringContaining('There is no settings.sqlite, or it is empty')
  expect(await runScript('ledger-verify', directory)).toMatchObject({ code: 0, out: missing })
  writeFileSync(join(directory, 'settings.sqlite'), '')
  expect(await runScript('ledger-verify', directory)).toMatchObject({ code: 0, out: missing })
  const backup = join(testDirectory(), 'backup')
  expect(await runScript('backup', directory, [backup])).toMatchObject({ code: 0, out: missing })
  const checked = await runScript('doctor', directory)
  expect(checked).toMatchObject({
    code: 1,
    err: expect.stringContaining('settings.sqlite is empty. Put back'),
  })
})

test('does not call settings damaged that another process locks', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 1)
  using settings = closing(new Database(join(directory, 'settings.sqlite')))
  settings.exec('CREATE TABLE settings (value TEXT); BEGIN EXCLUSIVE')
  expect(await runScript('ledger-verify', directory)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Another process is using the files\. /),
  })
})

test('verifies settings and views beside the ledger, and reports on each', { tags: ['long'] }, async () => {
  const directory = await stopped()
  const sound = await runScript('ledger-verify', directory)
  expect([sound.code, sound.out]).toEqual([
    0,
    expect.stringMatching(/settings\.sqlite is sound\.\nviews\.sqlite is sound\.\n$/),
  ])

  overwrite(join(directory, 'views.sqlite'))
  const views = await runScript('ledger-verify', directory)
  expect([views.code, views.out]).toEqual([
    0,
    expect.stringMatching(/\nviews\.sqlite is damaged: .*delete it. It is rebuilt from the ledger\.\n$/),
  ])
  expect(await runScript('ledger-replay', directory)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^views\.sqlite is damaged: .*delete it\. It is rebuilt from the ledger\.\n$/),
  })

  const key = join(directory, 'secret.key')
  renameSync(key, `${key}.away`)
  expect(await runScript('ledger-verify', directory)).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/\nsettings\.sqlite is sound\.\nsecret\.key is missing: .*Put it back, or /),
  })

  openSecretBox(directory).makeKey()
  expect(await runScript('ledger-verify', directory)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/secret\.key is not the key that OPENAI_API_KEY was encrypted with\. /),
  })
  rmSync(key)

  overwrite(join(directory, 'settings.sqlite'))
  const settings = await runScript('ledger-verify', directory)
  expect([settings.code, settings.err]).toEqual([
    1,
    expect.stringMatching(/^settings\.sqlite is damaged: .*restore a backup\.\n$/),
  ])
  expect(settings.out).toContain('The ledger is sound')
})
