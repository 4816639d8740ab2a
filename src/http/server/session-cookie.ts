import { setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { SESSION_MAX_MS } from '../../settings/sessions.ts'
import type { HttpContext } from './env.ts'

const NAME = 'delegate_session'
/** Browsers accept this name only by https, for this exact host: no neighbouring host can set it (RFC 6265bis, 4.1.3). */
const HTTPS_NAME = '__Host-delegate_session'

/** The token in a `Cookie` header; null without one. By https, the plain name counts until its session ends. */
export function tokenFromCookies(cookieHeader: string | undefined): string | null {
  if (cookieHeader === undefined) return null
  const cookies = parse(cookieHeader)
  return cookies[HTTPS_NAME] || cookies[NAME] || null
}

/** Gives the browser a session. The server ends idle sessions before the cookie expires. */
export function setSessionCookie(c: HttpContext, token: string): void {
  const { isHttps } = c.get('caller')
  write(c, isHttps ? HTTPS_NAME : NAME, token, SESSION_MAX_MS / 1000)
}

/** Removes the session from the browser. */
export function removeSessionCookie(c: HttpContext): void {
  if (c.get('caller').isHttps) write(c, HTTPS_NAME, '', 0)
  write(c, NAME, '', 0)
}

function write(c: HttpContext, name: string, value: string, maxAge: number): void {
  const secure = c.get('caller').isHttps
  setCookie(c, name, value, { httpOnly: true, sameSite: 'Lax', path: '/', secure, maxAge })
}
