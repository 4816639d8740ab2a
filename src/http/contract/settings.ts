import { z } from '@hono/zod-openapi'
import { settingGroups } from '../../settings/setting.ts'
import { answer, body, tagged } from './describe.ts'

const { del, get, post, put } = tagged('Settings')

const valueSchema = z.union([z.string(), z.number()])

const entriesSchema = z
  .object({
    entries: z
      .array(
        z.object({
          key: z.string(),
          value: valueSchema.nullable().describe('Always null for a secret'),
          secret: z.boolean(),
          set: z.boolean(),
          source: z.enum(['stored', 'environment', 'default', 'unset']),
          enteredFor: z
            .string()
            .nullable()
            .describe(
              'The origin that a secret was entered for. If the current address has another origin, the secret is not sent and `set` is false',
            ),
          sentTo: z.string().nullable().describe('The origin that a secret would be sent to now'),
          description: z.string(),
          restart: z.boolean().describe('Takes effect only after a restart'),
          group: z.enum(settingGroups),
          title: z.string().describe('The label in forms'),
          unit: z.string().nullable().describe('The unit of a number'),
          choices: z.array(z.string()).readonly().nullable().describe('The allowed values'),
        }),
      )
      .readonly(),
  })
  .openapi('Settings')

export type Setting = z.output<typeof entriesSchema>['entries'][number]

export const connectionSchema = z
  .object({
    ok: z.boolean(),
    steps: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
  })
  .openapi('ConnectionTest')

export type ConnectionTest = z.output<typeof connectionSchema>

export const listRoute = get('/api/config', {
  summary: 'List all settings and where their values come from',
  request: {
    query: z.object({ key: z.string().optional().openapi({ description: 'Lists only this one' }) }),
  },
  responses: answer(entriesSchema, 'The settings'),
})

export const changeRoute = put('/api/config', {
  summary: 'Change settings: all of them or none. Sensitive ones need a recent proof (`step_up_required`)',
  request: {
    body: body(
      z.object({
        entries: z
          .record(z.string(), valueSchema.nullable())
          .describe("Null removes a stored value; the environment's value or the default applies again"),
        password: z
          .string()
          .max(1_000)
          .optional()
          .describe(
            "The owner's password. Required to replace a secret that was entered for another address; without it, 403 `password_required`",
          ),
      }),
    ),
  },
  responses: answer(entriesSchema, 'The new settings', 400, 403, 409, 429),
})

export const resetRoute = del('/api/config/{key}', {
  summary: "Remove a stored value; the environment's value or the default applies again",
  request: { params: z.object({ key: z.string() }) },
  responses: answer(entriesSchema, 'The new settings', 403, 404),
})

export const proxiesRoute = get('/api/proxies', {
  summary: 'List addresses that send forwarding headers but are not in TRUSTED_PROXY',
  responses: answer(
    z.object({ undeclared: z.array(z.string()).readonly() }).openapi('Proxies'),
    'Seen since the start',
  ),
})

const testedSchema = z.enum(['model', 'telephony'])

export type TestedService = z.output<typeof testedSchema>

export const testRoute = post('/api/config.test', {
  summary: 'Test the connection to an outside service with the current settings',
  request: { body: body(z.object({ service: testedSchema })) },
  responses: answer(connectionSchema, 'The result of each step', 400),
})
