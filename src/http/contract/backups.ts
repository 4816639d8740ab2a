import { z } from '@hono/zod-openapi'
import { answer, json, refusals, tagged } from './describe.ts'

const { get, post, del } = tagged('Backups')

const backupSchema = z
  .object({
    name: z.string().describe('The name of the file in the backup directory'),
    createdAt: z.string(),
    bytes: z.int(),
    events: z.int().describe('The number of events in it'),
    headHash: z.string(),
    digest: z.string().describe('SHA-256 of the file'),
    present: z.boolean().nullable().describe('Whether the file is there; null if the disk does not answer'),
  })
  .openapi('Backup')

const backupsSchema = z
  .object({
    state: z.enum(['on', 'off']).describe('Off without a directory or a passphrase'),
    directory: z.string().nullable(),
    running: z.boolean().describe('Whether one is being made'),
    nextAt: z.string().nullable().describe('When the next one is due; null if off'),
    last: backupSchema.nullable(),
    lastTest: z
      .object({ at: z.string(), name: z.string(), ok: z.boolean(), reason: z.string().nullable() })
      .nullable()
      .describe('The last time that the newest one was restored to test it'),
    lastCopyAt: z.string().nullable().describe('When BACKUP_COMMAND last succeeded'),
    problems: z.array(z.string()).describe('What the owner should do something about, in sentences'),
    backups: z.array(backupSchema).describe('Newest first'),
  })
  .openapi('Backups')

export type Backups = z.output<typeof backupsSchema>

export const list = get('/api/backups', {
  summary: 'List the backups that the service made, the next one, and problems',
  responses: answer(backupsSchema, 'The backups'),
})

export const request = post('/api/backups', {
  summary: 'Make a backup now',
  responses: { 202: json(backupsSchema, 'It will be made'), ...refusals(409) },
})

export const forgetMissing = del('/api/backups/missing', {
  summary: 'Count the missing backups as removed. Needs a recent proof (`step_up_required`)',
  responses: { ...answer(backupsSchema, 'The backups'), ...refusals(403, 409) },
})
