import { msg } from '../../language/msg.ts'
import { installRoute } from '../contract/install.ts'
import type { CoreDeps } from '../features.ts'
import { deviceOf, setDeviceCookie } from '../server/device-cookie.ts'
import { type Routes, refuseInvalid } from '../server/env.ts'
import { conflict, Refusal } from '../server/problem.ts'
import { setSessionCookie } from '../server/session-cookie.ts'
import { tooManyAttempts } from '../server/sign-in-throttle.ts'

/** Body fields that are settings. */
const SETTINGS = [
  ['timezone', 'TIMEZONE'],
  ['publicUrl', 'PUBLIC_URL'],
  ['ownerPhoneNumber', 'OWNER_PHONE_NUMBER'],
  ['openaiApiKey', 'OPENAI_API_KEY'],
  ['openaiBaseUrl', 'OPENAI_BASE_URL'],
] as const

export function installRoutes(routes: Routes, { account, throttle, intrusions }: CoreDeps): void {
  /** Throttles only wrong codes, so that strangers cannot lock out the owner who has the right one. */
  function countWrongCode(client: string): void {
    const waitMs = throttle.waitMs(client)
    if (waitMs > 0) throw tooManyAttempts(waitMs)
    throttle.attemptsOf(client).failed()
  }

  routes.openapi(
    installRoute,
    async (c) => {
      const input = c.req.valid('json')
      const given = SETTINGS.filter(([field]) => (input[field] ?? '').trim() !== '')
      const device = deviceOf(c)
      const outcome = await account.install({
        device,
        password: input.password,
        settings: Object.fromEntries(given.map(([field, key]) => [key, input[field]])),
        userAgent: c.req.header('user-agent') ?? '',
        setupCode: input.setupCode ?? null,
      })
      switch (outcome.status) {
        case 'installed':
          setSessionCookie(c, outcome.newSession.token)
          setDeviceCookie(c, device)
          return c.json({ configured: true as const, authenticated: true as const }, 201)
        case 'already_installed':
          throw alreadyConfigured()
        case 'setup_code_required':
          intrusions.count('setup_code_refused')
          countWrongCode(`installer ${c.get('caller').address}`)
          throw new Refusal(
            403,
            'setup_code_required',
            msg`Enter the set-up code that the service printed when it started.`,
          )
        case 'common_password':
          throw commonPassword('password')
        case 'invalid': {
          const errors = outcome.problems.map(({ key, message }) => ({
            path: SETTINGS.find(([, setting]) => setting === key)?.[0] ?? key,
            message,
          }))
          throw new Refusal(400, 'invalid_request', `${errors[0]?.path}: ${errors[0]?.message}`, { errors })
        }
      }
    },
    (result, c) => {
      // Takes precedence over any error in the request.
      if (!result.success && account.isInstalled()) throw alreadyConfigured()
      return refuseInvalid(result, c)
    },
  )
}

function alreadyConfigured(): Refusal {
  return conflict('already_configured', msg`The service is already installed.`)
}

export function commonPassword(path: string): Refusal {
  const message = msg`is too common; choose another`
  return new Refusal(400, 'common_password', msg`The password is too common; choose another.`, {
    errors: [{ path, message }],
  })
}
