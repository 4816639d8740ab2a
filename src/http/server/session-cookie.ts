import { getCookie, setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { SESSION_MAX_MS } from '../../settings/sessions.ts'
import type { HttpContext } from './env.ts'

const NAME = 'delegate_session'
/** Earlier builds used this name by https. A browser that still has it keeps its session until the next sign-in. */
const FORMER_NAME = '__Host-delegate_session'

/** The token in a `Cookie` header; null without one. The former name wins: signing in removes it. */
export function tokenFromCookies(cookieHeader: string | undefined): string | null {
  if (cookieHeader === undefined) return null
  const cookies = parse(cookieHeader)
  return cookies[FORMER_NAME] || cookies[NAME] || null
}

/** Gives the browser a session. The server ends idle sessions before the cookie expires. */
export function setSessionCookie(c: HttpContext, token: string): void {
  write(c, NAME, token, SESSION_MAX_MS / 1000)
  removeFormer(c)
}

/** Removes the session from the browser. */
export function removeSessionCookie(c: HttpContext): void {
  write(c, NAME, '', 0)
  removeFormer(c)
}

function removeFormer(c: HttpContext): void {
  if (getCookie(c, FORMER_NAME) !== undefined) write(c, FORMER_NAME, '', 0)
}

function write(c: HttpContext, name: string, value: string, maxAge: number): void {
  const secure = c.get('caller').isHttps
  setCookie(c, name, value, { httpOnly: true, sameSite: 'Lax', path: '/', secure, maxAge })
}
