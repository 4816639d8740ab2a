import { english } from '../../language/message.ts'
import { msg } from '../../language/msg.ts'
import type { OwnerAccount, Proof } from '../../settings/owner-account.ts'
import type { Sessions } from '../../settings/sessions.ts'
import type { CoreDeps } from '../features.ts'
import { setDeviceCookie } from './device-cookie.ts'
import { type HttpContext, type Routes, sessionOf } from './env.ts'
import type { IntrusionCounter } from './intrusion-counter.ts'
import { Refusal } from './problem.ts'
import { setSessionCookie } from './session-cookie.ts'
import { guesserOf, type SignInThrottle, throttled } from './sign-in-throttle.ts'

/**
 * Routes that need a recent proof that the owner is there, so that a stolen session or an unlocked screen is not
 * enough. Changes of settings need one too, depending on the setting (`isSensitive`).
 */
const SENSITIVE_ROUTES = [
  ['DELETE', '/api/sessions'],
  ['DELETE', '/api/sessions/:id'],
  ['POST', '/api/allowance/raise'],
  ['POST', '/api/telephony/number/point'],
  ['POST', '/api/timers.feed'],
  ['POST', '/api/downloads'],
  ['DELETE', '/api/backups/missing'],
  ['PUT', '/api/services/:id'],
  ['DELETE', '/api/services/:id'],
  ['POST', '/api/auth/totp'],
  ['POST', '/api/auth/totp/confirm'],
  ['DELETE', '/api/auth/totp'],
  ['POST', '/api/auth/recovery-codes'],
  ['POST', '/api/auth/passkeys/options'],
  ['POST', '/api/auth/passkeys'],
  ['DELETE', '/api/auth/passkeys/:id'],
] as const

export type StepUp = ReturnType<typeof createStepUp>

/** Asks for a proof of who is there: signing in counts for five minutes, and so does proving it again. */
export function createStepUp(options: {
  readonly account: Pick<OwnerAccount, 'confirm' | 'revoke' | 'knows'>
  readonly sessions: Pick<Sessions, 'hasRecentProof' | 'prove' | 'refuse'>
  readonly throttle: SignInThrottle
  readonly intrusions: Pick<IntrusionCounter, 'count'>
}) {
  const { account, sessions, throttle } = options

  /** Throws 403 `step_up_required` unless the session has a recent proof. */
  function requireProof(c: HttpContext): void {
    if (sessions.hasRecentProof(sessionOf(c))) return
    throw new Refusal(
      403,
      'step_up_required',
      msg`Nothing was changed. Confirm that it is you, then try again.`,
    )
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
    /** Runs `job` if the proof is right. A wrong one costs the session an attempt; many in a row end it. */
    async confirmed<T>(
      c: HttpContext,
      proof: Proof,
      job: () => Promise<T>,
      status: 401 | 403 = 403,
    ): Promise<T> {
      const { id } = sessionOf(c)
      const guesser = guesserOf(c, account)
      const outcome = await account.confirm(proof, throttle.attemptsOf(guesser), async () => {
        sessions.prove(id)
        return { value: await job() }
      })
      if (typeof outcome === 'object') return outcome.value
      if (outcome === 'too_many_attempts') throw throttled(options, guesser)
      await countGuess(c, options)
      throw wrongFactor(status, outcome)
    },
  }
}

/** Counts a wrong proof. Many in a row end the session that made them. */
export async function countGuess(
  c: HttpContext,
  {
    account,
    sessions,
    intrusions,
  }: Pick<Parameters<typeof createStepUp>[0], 'account' | 'sessions' | 'intrusions'>,
): Promise<void> {
  intrusions.count('sign_in_refused')
  const session = c.get('session')
  if (session && sessions.refuse(session.id)) await account.revoke(session.id, 'guessing')
}

/** Ends a sign-in: sets the cookies of the new session, or throws the refusal and counts the guess. */
export async function endSignIn(
  c: HttpContext,
  deps: CoreDeps,
  device: string,
  outcome:
    | { readonly status: 'signed_in'; readonly newSession: { readonly token: string } }
    | { readonly status: 'too_many_attempts' | keyof typeof WRONG },
): Promise<void> {
  if (outcome.status === 'too_many_attempts') throw throttled(deps, guesserOf(c, deps.account))
  if (outcome.status !== 'signed_in') {
    await countGuess(c, deps)
    throw wrongFactor(401, outcome.status)
  }
  setSessionCookie(c, outcome.newSession.token)
  setDeviceCookie(c, device)
}

const WRONG = {
  wrong_password: english`The password is wrong.`,
  wrong_code: english`The code is wrong or was used before.`,
  wrong_passkey: english`The passkey was not accepted.`,
}

/** The refusal of a factor. With a session, the status is 403: the session is still valid. */
export function wrongFactor(status: 401 | 403, code: keyof typeof WRONG): Refusal {
  return new Refusal(status, code, WRONG[code])
}
