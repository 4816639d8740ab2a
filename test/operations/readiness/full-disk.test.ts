import { expect, test } from 'vitest'
import { startWholeService } from '../../support/service.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'

test('reports a disk that is nearly full, and is not ready without free space', async ({ skip }) => {
  const disk = mountSmallDisk(24)
  if (disk === null) return skip('no file system can be mounted here')
  const service = await startWholeService({ directory: disk.directory })
  const checks = async () => {
    const { status, json } = await service.client.get('/ready')
    return { status, ledger: json.checks.ledger, disk: json.checks.disk }
  }
  expect(await checks()).toEqual({
    status: 200,
    ledger: { ok: true },
    disk: { ok: false, detail: expect.stringMatching(/^\d+ MB free$/) },
  })
  expect(service.written.join('')).toContain('"check":"disk"')
  disk.fill()
  await expect.poll(checks).toMatchObject({
    status: 503,
    ledger: { ok: false, detail: expect.stringMatching(/^The disk is full\. Free some/) },
  })
  await service.stop()
})
