import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD } from '../support/service.ts'
import { backupsOf, DAY_MS, filesIn, startBacking, untilFacts } from './harness.ts'

/** Two backups with their copies elsewhere, then another backup by a machine that took over with an empty directory. */
async function takeOver() {
  const remote = join(testDirectory(), 'remote')
  // As `rclone sync` does.
  const environment = { BACKUP_COMMAND: `rm -rf ${remote} && cp -r "$BACKUP_DIRECTORY" ${remote}` }
  const first = await startBacking({ environment })
  await untilFacts(first, 'backup.copied')
  await first.pass(DAY_MS)
  await untilFacts(first, 'backup.copied', 2)
  await untilFacts(first, 'backup.tested')
  await first.stop()

  const target = join(testDirectory(), 'backups')
  mkdirSync(target)
  const { directory, clock } = first
  const second = await startBacking({ directory, clock, target, environment })
  return { remote, first: first.target, old: filesIn(first.target), second }
}

test('leaves the copies elsewhere alone while the directory lacks backups, until they are back', async () => {
  const { remote, first, old, second } = await takeOver()
  await second.pass(DAY_MS)
  const [failed] = await untilFacts(second, 'backup.failed')
  expect(failed).toEqual({
    step: 'copy',
    reason: expect.stringContaining(`: ${old.toReversed().join(', ')}.`),
  })
  expect(filesIn(remote)).toEqual(old)
  expect((await backupsOf(second)).problems).toEqual([`The backups were not copied: ${failed?.reason}`])

  for (const name of old) copyFileSync(join(first, name), join(second.target, name))
  expect((await second.client.post('/api/backups')).status).toBe(202)
  await untilFacts(second, 'backup.copied', 3)
  expect(filesIn(remote)).toEqual(filesIn(second.target))
  expect(filesIn(remote)).toEqual([...old, expect.any(String)])
  expect((await backupsOf(second)).problems).toEqual([])
})

test('copies again once the owner says that the missing backups are gone', async () => {
  const { remote, old, second } = await takeOver()
  // Not even the newest is there, as on a disk that is not connected.
  expect((await second.client.delete('/api/backups/missing')).status).toBe(409)
  await second.pass(DAY_MS)
  await untilFacts(second, 'backup.failed')
  await second.client.post('/api/auth/step-up', { password: PASSWORD })
  const { status, json } = await second.client.delete('/api/backups/missing')
  expect([status, json.backups.length]).toEqual([200, 1])
  expect((await untilFacts(second, 'backup.removed')).at(-1)?.names).toEqual(old.toReversed())
  await untilFacts(second, 'backup.copied', 3)
  expect(filesIn(remote)).toEqual(filesIn(second.target))
})
