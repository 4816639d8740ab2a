import type { OwnerAccount } from '../../settings/owner-account.ts'
import type { Sessions } from '../../settings/sessions.ts'
import { type HttpContext, type Routes, sessionOf } from './env.ts'
import type { IntrusionCounter } from './intrusion-counter.ts'
import { Refusal } from './problem.ts'
import { type SignInThrottle, tooManyAttempts } from './sign-in-throttle.ts'

/**
 * Routes that need a recent proof that the owner is there, so that a stolen session or an unlocked screen is not
 * enough. Changes of settings need one too, depending on the setting (`isSensitive`).
 */
const SENSITIVE_ROUTES = [['DELETE', '/api/sessions/:id']] as const

export type StepUp = ReturnType<typeof createStepUp>

/** Asks for a proof of who is there: signing in counts for five minutes, and so does proving it again. */
export function createStepUp(options: {
  readonly account: Pick<OwnerAccount, 'confirm'>
  readonly sessions: Pick<Sessions, 'hasRecentProof' | 'prove'>
  readonly throttle: SignInThrottle
  readonly intrusions: Pick<IntrusionCounter, 'count'>
}) {
  const { account, sessions, throttle, intrusions } = options

  /** Throws 403 `step_up_required` unless the session has a recent proof. */
  function requireProof(c: HttpContext): void {
    if (sessions.hasRecentProof(sessionOf(c))) return
    throw new Refusal(403, 'step_up_required', 'Nothing was changed. Confirm that it is you, then try again.')
  }

  return {
    requireProof,
    /** Puts `requireProof` in front of all sensitive routes. Call it before they are added. */
    guard(routes: Routes): void {
      for (const [method, path] of SENSITIVE_ROUTES)
        routes.on(method, path, (c, next) => {
          requireProof(c)
          return next()
        })
    },
    /**
     * Runs `job` if the password is right, which is also a proof. A wrong one costs the session an attempt, but
     * does not end it.
     */
    async confirmed<T>(c: HttpContext, password: string, job: () => Promise<T>): Promise<T> {
      const { id } = sessionOf(c)
      const guesser = `session ${id}`
      const outcome = await account.confirm(password, throttle.attemptsOf(guesser), async () => {
        sessions.prove(id)
        return job()
      })
      if (outcome === 'too_many_attempts') {
        intrusions.count('sign_in_throttled')
        throw tooManyAttempts(throttle.waitMs(guesser))
      }
      if (outcome === 'wrong_password') {
        intrusions.count('sign_in_refused')
        throw new Refusal(403, 'wrong_password', 'The password is wrong.')
      }
      return outcome
    },
  }
}
