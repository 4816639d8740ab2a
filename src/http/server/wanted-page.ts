import { serialize } from 'hono/utils/cookie'

const NAME = 'delegate_wanted'
const MAX_CHARACTERS = 1000
const MAX_AGE_S = 600

/**
 * The `Set-Cookie` that tells the sign-in page where to go next. Null for the default and for foreign URLs.
 */
export function wantedPageCookie(url: string, isHttps: boolean): string | null {
  const isPath = /^\/[^/\\]/.test(url) && url.length <= MAX_CHARACTERS
  if (!isPath) return null
  return serialize(NAME, url, { path: '/login', maxAge: MAX_AGE_S, sameSite: 'Strict', secure: isHttps })
}
