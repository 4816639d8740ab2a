import { z } from '@hono/zod-openapi'
import { passphraseSchema } from '../../settings/setting-schemas.ts'
import { answer, body, created, done, refusals, tagged } from './describe.ts'

const { del, get, post } = tagged('Your data')

const downloadSchema = z
  .object({
    id: z.string(),
    kind: z.enum(['backup', 'export']).describe('`export`: everything in open formats, as a zip'),
    name: z.string().describe('The name of the file'),
    state: z.enum(['waiting', 'making', 'ready', 'failed']).describe('`waiting`: until an erasure is over'),
    bytes: z.int().nullable().describe('Null until it is ready'),
    reason: z.string().nullable().describe('Why it failed, as a sentence'),
  })
  .openapi('Download')

export type Download = z.output<typeof downloadSchema>

const params = z.object({ id: z.string().max(200) })

export const list = get('/api/downloads', {
  summary: 'List the files that are made for download; each is removed after an hour',
  responses: answer(
    z.object({
      downloads: z.array(downloadSchema).readonly(),
      hasPassphrase: z.boolean().describe('Whether BACKUP_PASSPHRASE is set'),
    }),
    'At most one of each kind',
  ),
})

export const request = post('/api/downloads', {
  summary: 'Make a backup or an export for download; needs a recent proof of who is there',
  request: {
    body: body(
      z.object({
        kind: z.enum(['backup', 'export']),
        passphrase: passphraseSchema
          .optional()
          .describe('Of the backup. By default BACKUP_PASSPHRASE; required if that is not set'),
      }),
    ),
  },
  responses: created(downloadSchema, 'It is being made', 400, 403),
})

export const file = get('/api/downloads/{id}/file', {
  summary: 'Download a file in the session that asked for it',
  request: { params },
  responses: {
    200: {
      description: 'The file',
      content: { 'application/octet-stream': { schema: z.string().openapi({ format: 'binary' }) } },
    },
    ...refusals(404),
  },
})

export const remove = del('/api/downloads/{id}', {
  summary: 'Stop making a file, or remove it',
  request: { params },
  responses: done('Removed', 404),
})
