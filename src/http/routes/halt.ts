import { halt, read, release } from '../contract/halt.ts'
import type { CoreDeps } from '../features.ts'
import { type HttpContext, type Routes, sessionOf } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'
import { tooManyAttempts } from '../server/sign-in-throttle.ts'

/** Any session may halt the delegate. Its release needs the password. */
export function haltRoutes(routes: Routes, deps: CoreDeps): void {
  routes.openapi(read, (c) => c.json(deps.halt.state(), 200))
  routes.openapi(halt, async (c) => {
    await deps.halt.halt('browser')
    return c.json(deps.halt.state(), 200)
  })
  routes.openapi(release, async (c) => {
    await afterPassword(c, c.req.valid('json').password, deps, deps.halt.release)
    return c.json(deps.halt.state(), 200)
  })
}

/** The only place that decides what proves that the owner wants the release. A wrong password costs an attempt. */
async function afterPassword(
  c: HttpContext,
  password: string,
  { account, throttle, intrusions }: Pick<CoreDeps, 'account' | 'throttle' | 'intrusions'>,
  job: () => Promise<void>,
): Promise<void> {
  const guesser = `session ${sessionOf(c).id}`
  const outcome = await account.confirm(password, throttle.attemptsOf(guesser), job)
  if (outcome === 'too_many_attempts') {
    intrusions.count('sign_in_throttled')
    throw tooManyAttempts(throttle.waitMs(guesser))
  }
  if (outcome === 'wrong_password') {
    intrusions.count('sign_in_refused')
    throw new Refusal(401, 'wrong_password', 'The password is wrong.')
  }
}
