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
  // Unlike decodeURIComponent, this accepts malformed text.
  const cookie = new URLSearchParams(document.cookie.replaceAll('; ', '&')).get(COOKIE)
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context.
  document.cookie = `${COOKIE}=; Max-Age=0; Path=/login; SameSite=Strict`
  const kept =
    typeof state === 'object' && state !== null && 'wanted' in state ? String(state.wanted) : (cookie ?? '/')
  const isPath = kept.startsWith('/') && URL.canParse(kept, location.origin)
  const url = new URL(isPath ? kept : '/', location.origin)
  return url.origin === location.origin ? url : new URL('/', location.origin)
}
