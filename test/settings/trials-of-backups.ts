import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openSealedBackup } from '../../scripts/lib/sealed-backup.ts'
import { testDirectory } from '../support/directory.ts'
import type { Trial, Trials } from './trial.ts'
import type { World } from './world.ts'

const PASSPHRASE = 'seven grey herons'
const given = { BACKUP_PASSPHRASE: PASSPHRASE }

/** Makes a backup and returns its name. */
async function backUp({ ok, client, until }: World): Promise<string> {
  const names = async () =>
    (await ok(client.get('/api/backups'))).backups.map(({ name }: { name: string }) => name)
  const before = await names()
  await ok(client.post('/api/backups'))
  const [newest] = await until('a backup', names, ([name]) => name !== before[0])
  return newest
}

/**
 * Puts a copy of the last backup there under an earlier time, which is adopted, and says how many files the rule
 * leaves. A name that was removed does not come back, so each value has a year of its own.
 */
function keeps(earlier: string): Trial {
  return {
    values: [1, 2],
    given: { ...given, BACKUP_KEEP_DAILY: 1, BACKUP_KEEP_WEEKLY: 0, BACKUP_KEEP_MONTHLY: 0 },
    async see(world, count) {
      const { directory } = world
      await world.put({ BACKUP_DIRECTORY: directory })
      const [{ name }] = (await world.ok(world.client.get('/api/backups'))).backups
      copyFileSync(join(directory, name), join(directory, `delegate-200${count}-${earlier}T000000Z.backup`))
      await backUp(world)
      const left = () => readdirSync(directory).length
      return world.until('the rule', left, (files) => files === count)
    },
  }
}

export const backupTrials = {
  BACKUP_DIRECTORY: {
    given,
    values: () => [testDirectory(), testDirectory()],
    async see(world, path) {
      const name = await backUp(world)
      return readdirSync(String(path)).includes(name)
    },
    expected: () => true,
  },
  BACKUP_PASSPHRASE: {
    values: ['eight grey herons', 'nine brown herons'],
    async see(world, passphrase) {
      await world.put({ BACKUP_DIRECTORY: world.directory })
      const file = join(world.directory, await backUp(world))
      await openSealedBackup(file, join(testDirectory(), 'opened'), String(passphrase))
      return passphrase
    },
  },
  BACKUP_HOUR: {
    given,
    values: [5, 17],
    async see(world) {
      await world.put({ BACKUP_DIRECTORY: world.directory })
      await backUp(world)
      const { nextAt } = await world.ok(world.client.get('/api/backups'))
      return new Date(nextAt).getUTCHours()
    },
  },
  BACKUP_KEEP_DAILY: keeps('01-01'),
  BACKUP_KEEP_WEEKLY: keeps('02-05'),
  BACKUP_KEEP_MONTHLY: keeps('04-01'),
} as const satisfies Trials
