import { english } from '../language/message.ts'
import { setting } from './setting.ts'
import { directorySchema, integerSchema, passphraseSchema } from './setting-schemas.ts'

/** Backups that the service makes by itself. The command that copies them elsewhere is not a setting. */
export const backupSettings = {
  BACKUP_DIRECTORY: setting(directorySchema, {
    group: 'backups',
    title: english`Directory`,
    default: null,
    sensitive: true,
    description: english`Directory for a daily, encrypted backup, outside the data directory and the program. While unset, none is made.`,
  }),
  BACKUP_PASSPHRASE: setting(passphraseSchema, {
    group: 'backups',
    title: english`Passphrase`,
    default: null,
    secret: true,
    description: english`Passphrase of the backups, at least 12 characters. Nobody can restore a backup without it, and no backup contains it, so keep a copy elsewhere. While unset, none is made.`,
  }),
  BACKUP_HOUR: setting(integerSchema(0, 23), {
    group: 'backups',
    title: english`Hour of the day`,
    default: 3,
    description: english`Hour at which a backup is made each day, from 0 to 23, in your time zone.`,
  }),
  BACKUP_KEEP_DAILY: setting(integerSchema(1, 60), {
    group: 'backups',
    sensitive: true,
    title: english`Keep for`,
    unit: english`days`,
    default: 7,
    description: english`Number of days whose newest backup is kept.`,
  }),
  BACKUP_KEEP_WEEKLY: setting(integerSchema(0, 52), {
    group: 'backups',
    sensitive: true,
    title: english`Then weekly, for`,
    unit: english`weeks`,
    default: 5,
    description: english`Number of weeks whose newest backup is kept.`,
  }),
  BACKUP_KEEP_MONTHLY: setting(integerSchema(0, 36), {
    group: 'backups',
    sensitive: true,
    title: english`Then monthly, for`,
    unit: english`months`,
    default: 12,
    description: english`Number of months whose newest backup is kept.`,
  }),
}
