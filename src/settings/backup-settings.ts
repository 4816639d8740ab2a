import { setting } from './setting.ts'
import { directorySchema, integerSchema, passphraseSchema } from './setting-schemas.ts'

/** Backups that the service makes by itself. The command that copies them elsewhere is not a setting. */
export const backupSettings = {
  BACKUP_DIRECTORY: setting(directorySchema, {
    group: 'backups',
    title: 'Directory',
    default: null,
    sensitive: true,
    description:
      'Directory for a daily, encrypted backup, outside the data directory and the program. While unset, none is made.',
  }),
  BACKUP_PASSPHRASE: setting(passphraseSchema, {
    group: 'backups',
    title: 'Passphrase',
    default: null,
    secret: true,
    description:
      'Passphrase of the backups, at least 12 characters. Nobody can restore a backup without it, and no backup contains it, so keep a copy elsewhere. While unset, none is made.',
  }),
  BACKUP_HOUR: setting(integerSchema(0, 23), {
    group: 'backups',
    title: 'Hour of the day',
    default: 3,
    description: 'Hour at which a backup is made each day, from 0 to 23, in your time zone.',
  }),
  BACKUP_KEEP_DAILY: setting(integerSchema(1, 60), {
    group: 'backups',
    sensitive: true,
    title: 'Keep for',
    unit: 'days',
    default: 7,
    description: 'Number of days whose newest backup is kept.',
  }),
  BACKUP_KEEP_WEEKLY: setting(integerSchema(0, 52), {
    group: 'backups',
    sensitive: true,
    title: 'Then weekly, for',
    unit: 'weeks',
    default: 5,
    description: 'Number of weeks whose newest backup is kept.',
  }),
  BACKUP_KEEP_MONTHLY: setting(integerSchema(0, 36), {
    group: 'backups',
    sensitive: true,
    title: 'Then monthly, for',
    unit: 'months',
    default: 12,
    description: 'Number of months whose newest backup is kept.',
  }),
}
