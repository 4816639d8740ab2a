import { msg } from '../../language/msg.ts'
import {
  beginTotpRoute,
  confirmTotpRoute,
  factorsRoute,
  removeTotpRoute,
  renewRecoveryCodesRoute,
} from '../contract/factors.ts'
import type { CoreDeps } from '../features.ts'
import { type Routes, sessionOf } from '../server/env.ts'
import { siteOf } from '../server/passkey-site.ts'
import { conflict, Refusal } from '../server/problem.ts'
import { wrongFactor } from '../server/step-up.ts'

/** The factors besides the password. All changes need a recent proof; see step-up.ts. */
export function factorRoutes(routes: Routes, { factors, passkeys, settings }: CoreDeps): void {
  routes.openapi(factorsRoute, (c) => {
    const { totpAddedAtMs, recoveryCodesLeft } = factors.summary()
    return c.json(
      {
        totp: totpAddedAtMs === null ? null : { addedAt: timeOf(totpAddedAtMs) },
        recoveryCodesLeft,
        passkeys: passkeys.list().map(({ id, name, rpId, addedAtMs, lastUsedAtMs }) => ({
          id,
          name,
          domain: rpId,
          addedAt: timeOf(addedAtMs),
          lastUsedAt: lastUsedAtMs === null ? null : timeOf(lastUsedAtMs),
        })),
        passkeyDomain: siteOf(c, settings)?.rpId ?? null,
      },
      200,
    )
  })

  routes.openapi(beginTotpRoute, (c) => {
    const begun = factors.beginTotp(sessionOf(c).id)
    if (begun === null) throw conflict('totp_exists', msg`Remove the authenticator app first.`)
    return c.json(begun, 200)
  })

  routes.openapi(confirmTotpRoute, async (c) => {
    const outcome = await factors.confirmTotp(sessionOf(c).id, c.req.valid('json').code)
    if (outcome === 'not_begun')
      throw conflict('totp_not_begun', msg`Begin to add the authenticator app again.`)
    if (outcome === 'wrong_code') throw wrongFactor(403, outcome)
    return c.json({ recoveryCodes: outcome }, 200)
  })

  routes.openapi(removeTotpRoute, async (c) => {
    if (!(await factors.removeTotp()))
      throw new Refusal(404, 'unknown_factor', msg`There is no authenticator app.`)
    return c.body(null, 204)
  })

  routes.openapi(renewRecoveryCodesRoute, async (c) => {
    const recoveryCodes = await factors.renewRecoveryCodes()
    if (recoveryCodes === null) throw conflict('no_totp', msg`Add an authenticator app first.`)
    return c.json({ recoveryCodes }, 200)
  })
}

const timeOf = (ms: number): string => new Date(ms).toISOString()
