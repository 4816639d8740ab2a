import { createRoute, z } from '@hono/zod-openapi'
import type { OwnerAccount } from '../../settings/owner-account.ts'
import { isSettingKey, settingGroups } from '../../settings/registry.ts'
import type { Session } from '../../settings/sessions.ts'
import type { Settings } from '../../settings/settings.ts'
import { body, json, refusals } from '../contract/describe.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes, goneSignal, sessionOf } from '../server/env.ts'
import type { IntrusionCounter } from '../server/intrusion-counter.ts'
import { Refusal } from '../server/problem.ts'
import type { SignInThrottle } from '../server/sign-in-throttle.ts'

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
        enteredFor: z.string().nullable().openapi({
          description:
            'The origin that a secret was entered for. If the current address has another origin, the secret is not sent and `set` is false',
        }),
        sentTo: z
          .string()
          .nullable()
          .openapi({ description: 'The origin that a secret would be sent to now' }),
        description: z.string(),
        restart: z.boolean().openapi({ description: 'Takes effect only after a restart' }),
        group: z.enum(settingGroups),
        title: z.string().openapi({ description: 'The label in forms' }),
        unit: z.string().nullable().openapi({ description: 'The unit of a number' }),
        choices: z.array(z.string()).readonly().nullable().openapi({ description: 'The allowed values' }),
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

/** Tests the connection to an outside service and reports each step. Does not throw if the service fails. */
export type TestConnection = (
  service: 'model' | 'telephony',
  signal: AbortSignal,
) => Promise<z.output<typeof connectionSchema>>

const listRoute = createRoute({
  method: 'get',
  path: '/api/config',
  tags: ['Settings'],
  summary: 'List all settings and where their values come from',
  responses: { 200: json(entriesSchema, 'The settings') },
})

const changeRoute = createRoute({
  method: 'put',
  path: '/api/config',
  tags: ['Settings'],
  summary: 'Change settings: all of them or none',
  request: {
    body: body(
      z.object({
        entries: z.record(z.string(), valueSchema),
        password: z.string().max(1_000).optional().openapi({
          description:
            "The owner's password. Required to replace a secret that was entered for another address; without it, 403 `password_required`",
        }),
      }),
    ),
  },
  responses: { 200: json(entriesSchema, 'The new settings'), ...refusals(400, 403, 429) },
})

const resetRoute = createRoute({
  method: 'delete',
  path: '/api/config/{key}',
  tags: ['Settings'],
  summary: "Remove a stored value; the environment's value or the default applies again",
  request: { params: z.object({ key: z.string() }) },
  responses: { 200: json(entriesSchema, 'The new settings'), ...refusals(404) },
})

const testRoute = createRoute({
  method: 'post',
  path: '/api/config.test',
  tags: ['Settings'],
  summary: 'Test the connection to an outside service with the current settings',
  request: { body: body(z.object({ service: z.enum(['model', 'telephony']) })) },
  responses: { 200: json(connectionSchema, 'The result of each step'), ...refusals(400) },
})

export function settingsRoutes(options: {
  readonly settings: Settings
  readonly account: Pick<OwnerAccount, 'confirm'>
  readonly throttle: SignInThrottle
  readonly intrusions: Pick<IntrusionCounter, 'count'>
  readonly testConnection: TestConnection
}): RouteModule {
  const { settings, account, throttle, intrusions, testConnection } = options
  const routes = createRoutes()
  const entries = () => ({ entries: [...settings.entries()] })

  /** Runs `job` if the password is right. A wrong one costs the session an attempt, but does not end it. */
  async function confirmed<T>(session: Session, password: string, job: () => Promise<T>): Promise<T> {
    const guesser = `session ${session.id}`
    const outcome = await account.confirm(password, throttle.attemptsOf(guesser), job)
    if (outcome === 'too_many_attempts') {
      intrusions.count('sign_in_throttled')
      const seconds = Math.max(1, Math.ceil(throttle.waitMs(guesser) / 1000))
      throw new Refusal(429, 'too_many_attempts', 'Too many failed attempts. Try again later.', {
        headers: { 'retry-after': String(seconds) },
      })
    }
    if (outcome === 'wrong_password') {
      intrusions.count('sign_in_refused')
      throw new Refusal(403, 'wrong_password', 'The password is wrong.')
    }
    return outcome
  }

  routes.openapi(listRoute, (c) => c.json(entries(), 200))

  routes.openapi(changeRoute, async (c) => {
    const { entries: wanted, password } = c.req.valid('json')
    const outcome =
      password === undefined
        ? await settings.change(wanted)
        : await confirmed(sessionOf(c), password, () => settings.change(wanted, true))
    if (outcome.status === 'password_required') {
      throw new Refusal(
        403,
        'password_required',
        `${outcome.key} was entered for ${outcome.enteredFor}. Enter your password to set a key for ${outcome.destination}.`,
        { errors: [{ path: 'password', message: 'is required to set a key for another address' }] },
      )
    }
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
