import { createRoute, z } from '@hono/zod-openapi'
import { isSettingKey, settingGroups } from '../../settings/registry.ts'
import type { Settings } from '../../settings/settings.ts'
import type { RouteModule } from '../app.ts'
import { body, json, refusals } from '../describe.ts'
import { createRoutes, goneSignal } from '../env.ts'
import { Refusal } from '../problem.ts'

const valueSchema = z.union([z.string(), z.number()])

const entriesSchema = z
  .object({
    entries: z.array(
      z.object({
        key: z.string(),
        value: valueSchema.nullable().openapi({ description: 'Always null for a secret' }),
        secret: z.boolean(),
        set: z.boolean(),
        source: z.enum(['stored', 'environment', 'default', 'unset']),
        description: z.string(),
        restart: z.boolean().openapi({ description: 'Takes effect only after a restart' }),
        group: z.enum(settingGroups),
        title: z.string().openapi({ description: 'What a form calls it' }),
        unit: z.string().nullable().openapi({ description: 'What a number counts' }),
        choices: z
          .array(z.string())
          .readonly()
          .nullable()
          .openapi({ description: 'The only values there are' }),
      }),
    ),
  })
  .openapi('Settings')

const connectionSchema = z
  .object({
    ok: z.boolean(),
    steps: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
  })
  .openapi('ConnectionTest')

/** Tries an outside service out, and says in words what worked. Never throws for what the service does. */
export type TestConnection = (
  service: 'model' | 'telephony',
  signal: AbortSignal,
) => Promise<z.output<typeof connectionSchema>>

const listRoute = createRoute({
  method: 'get',
  path: '/api/config',
  tags: ['Settings'],
  summary: 'Every setting, and where its value comes from',
  responses: { 200: json(entriesSchema, 'The settings') },
})

const changeRoute = createRoute({
  method: 'put',
  path: '/api/config',
  tags: ['Settings'],
  summary: 'Changes settings: all of them or none',
  request: { body: body(z.object({ entries: z.record(z.string(), valueSchema) })) },
  responses: { 200: json(entriesSchema, 'The settings now'), ...refusals(400) },
})

const resetRoute = createRoute({
  method: 'delete',
  path: '/api/config/{key}',
  tags: ['Settings'],
  summary: "Takes a stored value away; the environment's or the default holds again",
  request: { params: z.object({ key: z.string() }) },
  responses: { 200: json(entriesSchema, 'The settings now'), ...refusals(404) },
})

const testRoute = createRoute({
  method: 'post',
  path: '/api/config.test',
  tags: ['Settings'],
  summary: 'Tries the connection to an outside service with the settings in force',
  request: { body: body(z.object({ service: z.enum(['model', 'telephony']) })) },
  responses: { 200: json(connectionSchema, 'What worked, step by step'), ...refusals(400) },
})

export function settingsRoutes(options: {
  readonly settings: Settings
  readonly testConnection: TestConnection
}): RouteModule {
  const { settings, testConnection } = options
  const routes = createRoutes()
  const entries = () => ({ entries: [...settings.entries()] })

  routes.openapi(listRoute, (c) => c.json(entries(), 200))

  routes.openapi(changeRoute, async (c) => {
    const outcome = await settings.change(c.req.valid('json').entries)
    if (outcome.status === 'invalid') {
      const errors = outcome.problems.map(({ key, message }) => ({ path: `entries.${key}`, message }))
      throw new Refusal(
        400,
        'invalid_setting',
        `${outcome.problems[0]?.key} ${outcome.problems[0]?.message}.`,
        {
          errors,
        },
      )
    }
    return c.json(entries(), 200)
  })

  routes.openapi(resetRoute, async (c) => {
    const { key } = c.req.valid('param')
    if (!isSettingKey(key)) throw new Refusal(404, 'unknown_setting', 'There is no such setting.')
    await settings.reset(key)
    return c.json(entries(), 200)
  })

  routes.openapi(testRoute, async (c) =>
    c.json(await testConnection(c.req.valid('json').service, goneSignal(c)), 200),
  )
  return { routes }
}
