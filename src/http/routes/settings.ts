import type { z } from '@hono/zod-openapi'
import { msg, translated } from '../../language/msg.ts'
import { serviceNamed, usesOfModels } from '../../model/plan.ts'
import { BUILTIN, modelUses } from '../../model/words.ts'
import { isSensitive, isSettingKey } from '../../settings/registry.ts'
import type { SettingEntry, SettingProblem } from '../../settings/settings.ts'
import {
  changeRoute,
  type connectionSchema,
  listRoute,
  proxiesRoute,
  resetRoute,
  type TestedService,
  testRoute,
} from '../contract/settings.ts'
import type { CoreDeps } from '../features.ts'
import { goneSignal, type Routes } from '../server/env.ts'
import { Refusal, unknown } from '../server/problem.ts'

/** Tests the connection to an outside service and reports each step. Does not throw if the service fails. */
export type TestConnection = (
  service: TestedService,
  signal: AbortSignal,
) => Promise<z.output<typeof connectionSchema>>

export function settingsRoutes(routes: Routes, deps: CoreDeps): void {
  const { settings, models, stepUp, testConnection, undeclaredProxies } = deps

  /** Default models apply on OpenAI's own API only: with another service, shows what takes their place. */
  function inForce(entry: SettingEntry): SettingEntry {
    const use = modelUses.find((each) => usesOfModels[each].model === entry.key)
    if (use === undefined || entry.source !== 'default') return entry
    const plan = models.plan()
    const { service, model } = plan.uses[use]
    if (serviceNamed(plan, service) === BUILTIN) return entry
    return { ...entry, value: model, set: model !== null, source: model === null ? 'unset' : 'default' }
  }

  const entries = (key?: string) => ({
    entries: settings
      .entries()
      .filter((entry) => key === undefined || entry.key === key)
      .map((entry) => ({
        ...inForce(entry),
        title: translated(entry.title),
        description: translated(entry.description),
        unit: entry.unit && translated(entry.unit),
      })),
  })

  routes.openapi(listRoute, (c) => c.json(entries(c.req.valid('query').key), 200))

  routes.openapi(changeRoute, async (c) => {
    const { entries: wanted, password } = c.req.valid('json')
    const checked = settings.check(wanted)
    if (checked.status === 'invalid') throw invalidSettings(checked.problems)
    if (password === undefined && Object.keys(wanted).some(isSensitive)) stepUp.requireProof(c)
    const outcome =
      password === undefined
        ? await settings.change(wanted)
        : await stepUp.confirmed(c, { password }, () => settings.change(wanted, true))
    if (outcome.status === 'password_required') {
      throw new Refusal(
        403,
        'password_required',
        msg`${outcome.key} was entered for ${outcome.enteredFor}. Enter your password to set a key for ${outcome.destination}.`,
        { errors: [{ path: 'password', message: msg`is required to set a key for another address` }] },
      )
    }
    if (outcome.status === 'invalid') throw invalidSettings(outcome.problems)
    return c.json(entries(), 200)
  })

  routes.openapi(resetRoute, async (c) => {
    const { key } = c.req.valid('param')
    if (!isSettingKey(key)) throw unknown('setting')
    if (isSensitive(key)) stepUp.requireProof(c)
    await settings.change({ [key]: null })
    return c.json(entries(), 200)
  })

  routes.openapi(testRoute, async (c) =>
    c.json(await testConnection(c.req.valid('json').service, goneSignal(c)), 200),
  )

  routes.openapi(proxiesRoute, (c) => c.json({ undeclared: undeclaredProxies() }, 200))
}

function invalidSettings(problems: readonly SettingProblem[]): Refusal {
  const errors = problems.map(({ key, message }) => ({ path: `entries.${key}`, message }))
  return new Refusal(400, 'invalid_setting', `${problems[0]?.key} ${problems[0]?.message}.`, { errors })
}
