import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../http/client.ts'
import { testDirectory } from '../../support/directory.ts'
import { buildDisk, controlDisk, diskEnvironment } from '../../torture/disk.ts'
import { startServiceProcess } from '../../torture/service-process.ts'

const PASSWORD = 'a long walk by the river'
const SENTENCES = {
  ENOSPC: /^The disk is full\. Free some space/,
  EIO: /^The disk fails to read or write\. Check/,
}

test.for(['ENOSPC', 'EIO'] as const)(
  'reports a disk that fails with %s, with its remedy, in /ready and in refusals',
  async (error, { skip }) => {
    const sentence = SENTENCES[error]
    const directory = testDirectory()
    const library = buildDisk(directory)
    if (library === null) return skip('there is no C compiler here')
    const root = join(directory, 'data')
    const control = join(directory, 'control')
    mkdirSync(root, { mode: 0o700 })
    const disk = controlDisk(control)
    const service = startServiceProcess(root, diskEnvironment({ library, root, control }))
    onTestFinished(async () => {
      await service.stop()
      disk.close()
    })
    const client = createClient(await service.listening)
    expect(
      (await client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode() })).status,
    ).toBe(201)
    disk.arm({
      nth: 1,
      error,
      sticky: true,
      torn: false,
      kinds: ['write', 'sync', 'truncate'],
      files: ['ledger'],
    })
    const refused = await client.post('/api/notes', { content: 'Not kept' })
    expect(refused.json).toMatchObject({ status: 503, code: 'ledger_unavailable' })
    expect(refused.json.detail.replace(/^.* Nothing was done\. /, '')).toMatch(sentence)
    const { status, json } = await client.get('/ready')
    expect([status, json.checks.ledger.detail]).toEqual([503, expect.stringMatching(sentence)])
    expect((await createClient(await service.listening).get('/ready')).json).toMatchObject({
      detail: 'Not ready: ledger.',
      checks: { ledger: { ok: false } },
    })
    disk.mend()
    await expect.poll(async () => (await client.get('/ready')).status).toBe(200)
  },
)
