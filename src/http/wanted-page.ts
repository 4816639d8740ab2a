import { serialize } from 'hono/utils/cookie'

const NAME = 'delegate_wanted'
const MAX_CHARACTERS = 1000
const MAX_AGE_S = 600

/**
 * The `Set-Cookie` by which the sign-in page, and nobody else, learns which page was asked for before it. Null for the
 * timeline, where a sign-in leads anyway, and for what is no path of this service.
 */
export function wantedPageCookie(url: string, isHttps: boolean): string | null {
  const isPath = /^\/[^/\\]/.test(url) && url.length <= MAX_CHARACTERS
  if (!isPath) return null
  return serialize(NAME, url, { path: '/login', maxAge: MAX_AGE_S, sameSite: 'Strict', secure: isHttps })
}
