const COOKIE = 'delegate_wanted'

/** Turns the address into the sign-in's, which keeps this page's in mind, also when it is reloaded. */
export function rememberWantedPage(): void {
  const wanted = location.pathname + location.search + location.hash
  history.replaceState({ wanted }, '', '/login')
}

/**
 * The address that was asked for before the sign-in, by this tab or as the service says in its cookie: always of this
 * origin; the timeline's where there is none. Given once.
 */
export function takeWantedPage(): URL {
  const state: unknown = history.state
  const kept =
    typeof state === 'object' && state !== null && 'wanted' in state ? String(state.wanted) : cookie()
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context, which plain http is not.
  document.cookie = `${COOKIE}=; Max-Age=0; Path=/login; SameSite=Strict`
  try {
    const url = new URL(kept, location.origin)
    if (url.origin === location.origin) return url
  } catch {
    // No address at all.
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
