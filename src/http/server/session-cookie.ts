import { parse, serialize } from 'hono/utils/cookie'
import { SESSION_MAX_MS } from '../../settings/sessions.ts'

const NAME = 'delegate_session'

/** The token in a `Cookie` header; null without one. */
export function tokenFromCookies(cookieHeader: string | undefined): string | null {
  if (cookieHeader === undefined) return null
  return parse(cookieHeader, NAME)[NAME] || null
}

/** The `Set-Cookie` of a session. The server ends idle sessions before the cookie expires. */
export function sessionCookie(token: string, isHttps: boolean): string {
  return serialize(NAME, token, { ...attributes(isHttps), maxAge: SESSION_MAX_MS / 1000 })
}

/** The `Set-Cookie` that removes the session from the browser. */
export function endedSessionCookie(isHttps: boolean): string {
  return serialize(NAME, '', { ...attributes(isHttps), maxAge: 0 })
}

function attributes(isHttps: boolean) {
  return { httpOnly: true, sameSite: 'Lax', path: '/', secure: isHttps } as const
}
