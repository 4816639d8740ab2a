import { setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { SESSION_MAX_MS } from '../../settings/sessions.ts'
import type { HttpContext } from './env.ts'

const NAME = 'delegate_session'

/** The token in a `Cookie` header; null without one. */
export function tokenFromCookies(cookieHeader: string | undefined): string | null {
  return (cookieHeader !== undefined && parse(cookieHeader)[NAME]) || null
}

/** Gives the browser a session. The server ends idle sessions before the cookie expires. */
export function setSessionCookie(c: HttpContext, token: string): void {
  write(c, token, SESSION_MAX_MS / 1000)
}

/** Removes the session from the browser. */
export function removeSessionCookie(c: HttpContext): void {
  write(c, '', 0)
}

function write(c: HttpContext, value: string, maxAge: number): void {
  const secure = c.get('caller').isHttps
  setCookie(c, NAME, value, { httpOnly: true, sameSite: 'Lax', path: '/', secure, maxAge })
}
