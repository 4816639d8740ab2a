const COOKIE = 'delegate_wanted'

/** Replaces the address with `/login` and keeps the current one in the history state. */
export function rememberWantedPage(): void {
  const wanted = location.pathname + location.search + location.hash
  history.replaceState({ wanted }, '', '/login')
}

/**
 * Takes the address requested before sign-in, from the history state or the service's cookie. Always on this
 * origin; defaults to the timeline. The cookie is cleared.
 */
export function takeWantedPage(): URL {
  const { cookie } = document
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context.
  document.cookie = `${COOKIE}=; Max-Age=0; Path=/login; SameSite=Strict`
  try {
    const url = new URL(history.state?.wanted ?? wantedIn(cookie), location.origin)
    if (url.origin === location.origin) return url
  } catch {
    // No valid URL.
  }
  return new URL('/', location.origin)
}

function wantedIn(cookies: string): string {
  const pair = cookies.split('; ').find((each) => each.startsWith(`${COOKIE}=`))
  return decodeURIComponent(pair?.slice(COOKIE.length + 1) ?? '')
}
