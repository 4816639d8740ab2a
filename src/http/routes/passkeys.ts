import { msg } from '../../language/msg.ts'
import {
  addPasskeyRoute,
  passkeyOptionsRoute,
  passkeySignInRoute,
  registrationOptionsRoute,
  removePasskeyRoute,
} from '../contract/passkeys.ts'
import type { CoreDeps } from '../features.ts'
import { deviceOf, userAgentOf } from '../server/device-cookie.ts'
import type { Routes } from '../server/env.ts'
import { requireSite, responseOf, siteOf } from '../server/passkey-site.ts'
import { conflict, Refusal, unknown } from '../server/problem.ts'
import { guesserOf } from '../server/sign-in-throttle.ts'
import { endSignIn } from '../server/step-up.ts'

/** Signing in with passkeys, and changing them, which needs a recent proof; see step-up.ts. */
export function passkeyRoutes(routes: Routes, deps: CoreDeps): void {
  const { account, passkeys, settings, throttle } = deps

  routes.openapi(passkeyOptionsRoute, (c) => {
    const site = siteOf(c, settings)
    return c.json({ options: site === null ? null : passkeys.signInOptions(site) }, 200)
  })

  routes.openapi(passkeySignInRoute, async (c) => {
    const client = guesserOf(c, account)
    const device = deviceOf(c)
    const passkey = { site: requireSite(c, settings), response: responseOf(c.req.valid('json').response) }
    const browser = { device, userAgent: userAgentOf(c), former: c.get('session') }
    const outcome = await account.signInByPasskey(
      { passkey, ...browser },
      throttle.attemptsOf(client, c.get('caller').address),
    )
    await endSignIn(c, deps, device, outcome)
    return c.json({ authenticated: true as const }, 200)
  })

  routes.openapi(registrationOptionsRoute, (c) =>
    c.json({ options: passkeys.registrationOptions(requireSite(c, settings)) }, 200),
  )

  routes.openapi(addPasskeyRoute, async (c) => {
    const { name, response } = c.req.valid('json')
    const outcome = await passkeys.add(requireSite(c, settings), name, responseOf(response))
    if (outcome === 'too_many') throw conflict('too_many_passkeys', msg`Remove a passkey first.`)
    if (outcome === 'invalid')
      throw new Refusal(400, 'invalid_passkey', msg`The passkey could not be verified. Try again.`)
    return c.json({ added: true as const }, 201)
  })

  routes.openapi(removePasskeyRoute, async (c) => {
    if (!(await passkeys.remove(c.req.valid('param').id))) throw unknown('passkey')
    return c.body(null, 204)
  })
}
