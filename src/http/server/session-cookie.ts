import { setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { SESSION_MAX_MS } from '../../settings/sessions.ts'
import type { HttpContext } from './env.ts'

const NAME = 'delegate_session'

/** The token in a `Cookie` header; null without one. */
export function tokenFromCookies(cookieHeader: string | undefined): string | null {
  if (cookieHeader === undefined) return null
  return parse(cookieHeader, NAME)[NAME] || null
}

/** Gives the browser a session. The server ends idle sessions before the cookie expires. */
export function setSessionCookie(c: HttpContext, token: string): void {
  setCookie(c, NAME, token, { ...attributes(c), maxAge: SESSION_MAX_MS / 1000 })
}

/** Removes the session from the browser. */
export function removeSessionCookie(c: HttpContext): void {
  setCookie(c, NAME, '', { ...attributes(c), maxAge: 0 })
}

function attributes(c: HttpContext) {
  return { httpOnly: true, sameSite: 'Lax', path: '/', secure: c.get('caller').isHttps } as const
}
