import type { IncomingMessage } from 'node:http'
import type { OwnerAccount } from '../settings/owner-account.ts'
import type { Session, Sessions } from '../settings/sessions.ts'
import { type Caller, isCrossSite } from './caller.ts'
import { tokenFromCookies } from './session-cookie.ts'

type Allowed = { readonly verdict: 'allowed'; readonly session: Session | null }
type Redirected = { readonly verdict: 'redirected'; readonly to: '/install' | '/login' | '/' }
type Refused = {
  readonly verdict: 'refused'
  readonly reason: 'not_configured' | 'no_session' | 'foreign_origin' | 'hidden'
}

/** Whether a request may go on to its route. */
export type Access = Allowed | Redirected | Refused

export type AccessControl = {
  /** `path` is the one that the router will look for, so the two can never see different things. */
  request(incoming: IncomingMessage, caller: Caller, path: string): Access
  /** The same for a WebSocket upgrade; `isPublic` sockets prove themselves by other means. */
  upgrade(incoming: IncomingMessage, caller: Caller, isPublic: boolean): Allowed | Refused
}

/** What says how the service is. Nobody's session is looked for: it is asked most when something does not work. */
const STATE = new Set(['GET /health', 'GET /ready', 'GET /build-info.json', 'GET /public-url'])

/** What may be asked for before the service is installed. Exact; everything else waits. */
const BEFORE_INSTALL = new Set([
  'GET /install',
  'GET /install.html',
  'POST /api/install',
  'GET /auth/status',
  ...STATE,
])

/** What may be asked for without a session. Exact; everything else needs one, also what does not exist. */
const WITHOUT_SESSION = new Set([
  ...BEFORE_INSTALL,
  'GET /login',
  'POST /login',
  'GET /voice-markup',
  'POST /voice-markup',
  'POST /sms',
  'POST /sms/status',
  'POST /voice-status',
  'POST /api/copilot/callback',
])

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Decoding again and again would let a request make us work; four times is more than any proxy does. */
const MAX_DECODINGS = 4

export function createAccessControl(options: {
  readonly account: Pick<OwnerAccount, 'isInstalled'>
  readonly sessions: Pick<Sessions, 'find'>
  /** Whether the web app has a file of that path: what it consists of is no secret. */
  readonly isStaticFile: (path: string) => boolean
}): AccessControl {
  const { account, sessions, isStaticFile } = options

  function findSession(incoming: IncomingMessage): { token: string | null; session: Session | null } {
    const token = tokenFromCookies(incoming.headers.cookie)
    return { token, session: token === null ? null : sessions.find(token) }
  }

  return {
    request(incoming, caller, path) {
      const method = incoming.method ?? ''
      const route = `${method === 'HEAD' ? 'GET' : method} ${path}`
      if (isHiddenPath(incoming.url ?? '')) return { verdict: 'refused', reason: 'hidden' }
      const isFile = SAFE_METHODS.has(method) && isStaticFile(path)

      if (!account.isInstalled()) {
        if (isFile || BEFORE_INSTALL.has(route)) return { verdict: 'allowed', session: null }
        if (isNavigation(incoming)) return { verdict: 'redirected', to: '/install' }
        return { verdict: 'refused', reason: 'not_configured' }
      }
      if (isFile || STATE.has(route)) return { verdict: 'allowed', session: null }
      if (route === 'GET /install' || route === 'GET /install.html') return { verdict: 'redirected', to: '/' }

      const { token, session } = findSession(incoming)
      // A foreign page can make a browser send its cookie, or sign it in as somebody else.
      const isGuarded = token !== null || route === 'POST /login'
      if (isGuarded && !SAFE_METHODS.has(method) && !isFromOwnOrigin(incoming, caller)) {
        return { verdict: 'refused', reason: 'foreign_origin' }
      }
      if (session !== null || WITHOUT_SESSION.has(route)) return { verdict: 'allowed', session }
      return isNavigation(incoming)
        ? { verdict: 'redirected', to: '/login' }
        : { verdict: 'refused', reason: 'no_session' }
    },

    upgrade(incoming, caller, isPublic) {
      if (!account.isInstalled()) return { verdict: 'refused', reason: 'not_configured' }
      const { token, session } = findSession(incoming)
      if (isPublic) {
        // Who brings no cookie is no browser of the owner's.
        return token === null || isFromOwnOrigin(incoming, caller)
          ? { verdict: 'allowed', session: null }
          : { verdict: 'refused', reason: 'foreign_origin' }
      }
      if (session === null) return { verdict: 'refused', reason: 'no_session' }
      // Browsers send Origin with every upgrade, but no preflight: this check is all that stands between a
      // foreign page and the socket.
      if (!isFromOwnOrigin(incoming, caller)) return { verdict: 'refused', reason: 'foreign_origin' }
      return { verdict: 'allowed', session }
    },
  }
}

/** Whether a person follows a link, rather than a program asking. */
export function isNavigation(incoming: IncomingMessage): boolean {
  return incoming.method === 'GET' && (incoming.headers.accept ?? '').includes('text/html')
}

/**
 * Browsers name the page that makes a request, in `Origin` or at least in `Sec-Fetch-Site`. A request with
 * neither comes from no browser, so nobody's cookie can have been made to go with it.
 */
function isFromOwnOrigin(incoming: IncomingMessage, caller: Caller): boolean {
  const { origin } = incoming.headers
  if (origin !== undefined) return caller.isOwnOrigin(origin)
  return !isCrossSite(incoming.headers)
}

/** Whether any segment of a request's path begins with a dot, however often it is encoded. */
function isHiddenPath(url: string): boolean {
  let path = url.replace(/[?#].*$/s, '').replace(/^https?:\/\/[^/]*/i, '')
  for (let round = 0; round < MAX_DECODINGS; round += 1) {
    if (/(?:^|[/\\])\./.test(path) || path.includes('\0')) return true
    const decoded = path.replace(/%[0-9a-f]{2}/gi, (code) =>
      String.fromCharCode(Number.parseInt(code.slice(1), 16)),
    )
    if (decoded === path) return false
    path = decoded
  }
  return true
}
