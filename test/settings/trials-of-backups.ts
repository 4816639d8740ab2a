import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openSealedBackup } from '../../scripts/lib/sealed-backup.ts'
import { testDirectory } from '../support/directory.ts'
import type { Trial, Trials } from './trial.ts'
import type { World } from './world.ts'

const namesOf = async ({ ok, client }: World): Promise<string[]> =>
  (await ok(client.get('/api/backups'))).backups.map(({ name }: { name: string }) => name)

/** Makes a backup and returns its name. */
async function backUp(world: World): Promise<string> {
  const [before] = await namesOf(world)
  await world.ok(world.client.post('/api/backups'))
  const [newest = ''] = await world.until(
    'a backup',
    () => namesOf(world),
    ([name]) => name !== before,
  )
  return newest
}

/**
 * Puts a copy of the last backup there under an earlier time, which is adopted, and says how many the rule leaves once
 * it has removed the one of earlier today. The given rule leaves one.
 */
function keeps(earlier: string): Trial {
  return {
    values: [2],
    given: { BACKUP_KEEP_DAILY: 1, BACKUP_KEEP_WEEKLY: 0, BACKUP_KEEP_MONTHLY: 0 },
    async see(world) {
      const [last = ''] = await namesOf(world)
      const { directory } = world
      copyFileSync(join(directory, last), join(directory, `delegate-2002-${earlier}T000000Z.backup`))
      await backUp(world)
      const left = await world.until(
        'the rule',
        () => namesOf(world),
        (names) => !names.includes(last),
      )
      return left.length
    },
  }
}

/**
 * Each backup takes seconds, because keys of passphrases are slow by design. So the environment turns backups on, and
 * one other value proves that a setting takes effect.
 */
export const backupTrials = {
  BACKUP_HOUR: {
    values: [5, 17],
    async see({ ok, client, until }) {
      const backups = () => ok(client.get('/api/backups'))
      // Until there is one, the next is due now.
      const { nextAt } = await until('a backup', backups, (now) => now.backups.length > 0)
      return new Date(nextAt).getUTCHours()
    },
  },
  BACKUP_KEEP_DAILY: keeps('01-01'),
  BACKUP_KEEP_WEEKLY: keeps('02-05'),
  BACKUP_KEEP_MONTHLY: keeps('04-01'),
  BACKUP_PASSPHRASE: {
    values: ['nine brown herons'],
    async see(world, passphrase) {
      const file = join(world.directory, await backUp(world))
      await openSealedBackup(file, join(testDirectory(), 'opened'), String(passphrase))
      return passphrase
    },
  },
  BACKUP_DIRECTORY: {
    values: () => [testDirectory()],
    async see({ until }, path) {
      const files = () => readdirSync(String(path))
      await until('a backup there', files, (names) => names.some((name) => name.endsWith('.backup')))
      return path
    },
  },
} as const satisfies Trials
