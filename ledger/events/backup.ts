import * as z from 'zod'
import { countSchema, defineEvent, idSchema } from '../define-event.ts'

/** `delegate-<UTC time>.backup`. */
const namePattern = /^delegate-(\d{4}-\d{2}-\d{2})T(\d{2})(\d{2})(\d{2})Z\.backup$/

export function backupName(atMs: number): string {
  return `delegate-${new Date(atMs).toISOString().slice(0, 19).replaceAll(':', '')}Z.backup`
}

/** When a backup was begun, from its name, as ISO 8601; null if a file has another name. */
export function timeOfBackup(name: string): string | null {
  const [, day, hours, minutes, seconds] = namePattern.exec(name) ?? []
  return day === undefined ? null : `${day}T${hours}:${minutes}:${seconds}.000Z`
}

/** SHA-256, in hexadecimal. */
const digestSchema = z.string().max(64)
/** A plain sentence without paths. */
const reasonSchema = z.string().min(1).max(500)

/** What can fail: making a backup, removing old ones, the operator's command, and the test of the newest one. */
export const backupSteps = ['make', 'remove', 'copy', 'test'] as const

/** Encrypted backups that the service makes by itself. */
export const backupEvents = {
  /** The owner wants one now, or the directory or passphrase changed while one was made. */
  'backup.requested': defineEvent({ internal: true, facts: {} }),
  /** Complete, verified and on disk. */
  'backup.made': defineEvent({
    internal: true,
    facts: {
      name: idSchema,
      bytes: countSchema,
      /** The number of events in it, which is also the seq of its head. */
      events: countSchema,
      headHash: digestSchema,
      /** Of the file. */
      digest: digestSchema,
    },
  }),
  'backup.failed': defineEvent({ facts: { step: z.enum(backupSteps), reason: reasonSchema } }),
  /** No longer kept by the rule in force, or missing and forgotten by the owner. Files that are there go after this fact. */
  'backup.removed': defineEvent({ internal: true, facts: { names: z.array(idSchema).min(1).max(1_000) } }),
  /** The operator's command has run since the last change of the directory. */
  'backup.copied': defineEvent({ internal: true, facts: {} }),
  /** It was restored into a temporary directory and compared with its fact. */
  'backup.tested': defineEvent({
    internal: true,
    facts: { name: idSchema, ok: z.boolean(), reason: reasonSchema.optional() },
  }),
}
