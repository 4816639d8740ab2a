import { randomBytes } from 'node:crypto'
import { getCookie, setCookie } from 'hono/cookie'
import type { HttpContext } from './env.ts'

const NAME = 'delegate_device'
const TOKEN = /^[\w-]{22}$/
/** The longest that browsers keep a cookie (RFC 6265bis, 5.5). */
const MAX_AGE_S = 400 * 86_400

/** The token by which a browser is recognised when it signs in again; a new one for a browser without. */
export function deviceOf(c: HttpContext): string {
  const token = getCookie(c, NAME) ?? ''
  return TOKEN.test(token) ? token : randomBytes(16).toString('base64url')
}

/** Keeps the token in the browser, which sends it only when it signs in. Set it after the session's cookie. */
export function setDeviceCookie(c: HttpContext, token: string): void {
  const secure = c.get('caller').isHttps
  setCookie(c, NAME, token, { httpOnly: true, sameSite: 'Strict', path: '/login', secure, maxAge: MAX_AGE_S })
}

/** The kind of browser that asks. */
export const userAgentOf = (c: HttpContext): string => c.req.header('user-agent') ?? ''
