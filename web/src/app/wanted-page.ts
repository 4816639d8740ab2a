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
  const state: unknown = history.state
  const kept =
    typeof state === 'object' && state !== null && 'wanted' in state ? String(state.wanted) : cookie()
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context.
  document.cookie = `${COOKIE}=; Max-Age=0; Path=/login; SameSite=Strict`
  try {
    const url = new URL(kept, location.origin)
    if (url.origin === location.origin) return url
  } catch {
    // Not a valid URL.
  }
  return new URL('/', location.origin)
}

function cookie(): string {
  const pair = document.cookie.split('; ').find((each) => each.startsWith(`${COOKIE}=`))
  const value = pair?.slice(COOKIE.length + 1) ?? ''
  try {
    return decodeURIComponent(value)
  } catch {
    return ''
  }
}
