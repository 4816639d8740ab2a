import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

test('a disk that is nearly full is reported, and one without room for a checkpoint makes the service unready', async ({
  skip,
}) => {
  const directory = join(testDirectory(), 'small')
  mkdirSync(directory)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', directory])
  if (mounted.status !== 0) return skip('no file system can be mounted here')
  onTestFinished(() => void spawnSync('umount', ['-l', directory]))
  const service = await startWholeService({ directory })
  const checks = async () => {
    const { status, json } = await service.client.get('/ready')
    return { status, ledger: json.checks.ledger, disk: json.checks.disk }
  }
  const low = { ok: false, detail: expect.stringMatching(/^\d+ MB free$/) }
  expect(await checks()).toEqual({ status: 200, ledger: { ok: true }, disk: low })
  expect(service.written.join('')).toContain('"check":"disk"')
  writeFileSync(
    join(directory, 'ballast'),
    Buffer.alloc(Number.parseInt((await checks()).disk.detail, 10) * 1024 ** 2 - 2 * 1024 ** 2),
  )
  await expect
    .poll(checks, { timeout: 5000 })
    .toMatchObject({
      status: 503,
      ledger: { ok: false, detail: expect.stringMatching(/^The disk is full\. Free some/) },
    })
})
