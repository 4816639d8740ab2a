import { msg } from '../../language/msg.ts'
import {
  changePasswordRoute,
  listSessionsRoute,
  revokeOtherSessionsRoute,
  revokeSessionRoute,
  signInRoute,
  signOutRoute,
  statusRoute,
  stepUpRoute,
} from '../contract/sign-in.ts'
import type { CoreDeps } from '../features.ts'
import { deviceOf, userAgentOf } from '../server/device-cookie.ts'
import { type Routes, refuseInvalid, sessionOf } from '../server/env.ts'
import { requireSite, responseOf } from '../server/passkey-site.ts'
import { Refusal, unknown } from '../server/problem.ts'
import { removeSessionCookie } from '../server/session-cookie.ts'
import { guesserOf, throttled } from '../server/sign-in-throttle.ts'
import { countGuess, endSignIn } from '../server/step-up.ts'
import { commonPassword } from './install.ts'

export function signInRoutes(routes: Routes, deps: CoreDeps): void {
  const { account, sessions, settings, throttle, stepUp, intrusions } = deps

  /** A malformed guess counts as an attempt too. */
  function countMalformed(client: string): void {
    if (throttle.waitMs(client) > 0) throw throttled(deps, client)
    throttle.attemptsOf(client).failed()
    intrusions.count('sign_in_refused')
  }

  routes.openapi(statusRoute, (c) =>
    c.json({ configured: account.isInstalled(), authenticated: c.get('session') !== null }, 200),
  )

  routes.openapi(
    signInRoute,
    async (c) => {
      const client = guesserOf(c, account)
      const device = deviceOf(c)
      const outcome = await account.signIn(
        {
          ...c.req.valid('json'),
          device,
          userAgent: userAgentOf(c),
          former: c.get('session'),
        },
        throttle.attemptsOf(client, c.get('caller').address),
      )
      if (outcome.status === 'second_factor_required')
        throw new Refusal(
          401,
          outcome.status,
          msg`Enter a code of your authenticator app or a recovery code.`,
        )
      await endSignIn(c, deps, device, outcome)
      return c.json({ authenticated: true as const }, 200)
    },
    (result, c) => {
      if (!result.success) countMalformed(guesserOf(c, account))
      return refuseInvalid(result, c)
    },
  )

  routes.openapi(signOutRoute, async (c) => {
    await account.signOut(sessionOf(c))
    removeSessionCookie(c)
    return c.json({ authenticated: false as const }, 200)
  })

  routes.openapi(changePasswordRoute, async (c) => {
    const session = sessionOf(c)
    const { currentPassword, newPassword } = c.req.valid('json')
    const guesser = guesserOf(c, account)
    const outcome = await account.changePassword(
      session,
      { current: currentPassword, next: newPassword },
      throttle.attemptsOf(guesser),
    )
    switch (outcome) {
      case 'changed':
        // The current password is a proof.
        sessions.prove(session.id)
        return c.json({ changed: true as const }, 200)
      case 'wrong_password':
        await countGuess(c, deps)
        throw new Refusal(401, 'wrong_password', msg`The current password is wrong.`)
      case 'too_many_attempts':
        throw throttled(deps, guesser)
      case 'common_password':
        throw commonPassword('newPassword')
    }
  })

  routes.openapi(stepUpRoute, async (c) => {
    const proof = c.req.valid('json')
    await stepUp.confirmed(
      c,
      'passkey' in proof
        ? { passkey: { site: requireSite(c, settings), response: responseOf(proof.passkey) } }
        : proof,
      async () => undefined,
    )
    return c.json({ proven: true as const }, 200)
  })

  routes.openapi(listSessionsRoute, (c) => {
    const current = sessionOf(c).id
    const list = sessions.list().map(({ id, createdAtMs, lastSeenAtMs, userAgent }) => ({
      id,
      current: id === current,
      createdAt: new Date(createdAtMs).toISOString(),
      lastSeenAt: new Date(lastSeenAtMs).toISOString(),
      userAgent,
    }))
    return c.json({ sessions: list }, 200)
  })

  routes.openapi(revokeOtherSessionsRoute, async (c) => {
    await account.revokeOthers(sessionOf(c))
    return c.body(null, 204)
  })

  routes.openapi(revokeSessionRoute, async (c) => {
    if (!(await account.revoke(c.req.valid('param').id))) {
      throw unknown('session')
    }
    return c.body(null, 204)
  })
}
