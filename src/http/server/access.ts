import type { IncomingMessage } from 'node:http'
import { english } from '../../language/message.ts'
import { msg } from '../../language/msg.ts'
import type { OwnerAccount } from '../../settings/owner-account.ts'
import type { Session, Sessions } from '../../settings/sessions.ts'
import { type Caller, isCrossSite } from './caller.ts'
import type { IsAllowedHost } from './host-list.ts'
import type { IntrusionCounter } from './intrusion-counter.ts'
import type { IsMonitor } from './monitor.ts'
import { Refusal } from './problem.ts'
import { tokenFromCookies } from './session-cookie.ts'

export type AccessControl = ReturnType<typeof createAccessControl>

/** Thrown to send a browser to another page. */
export class Redirection extends Error {
  override readonly name = 'Redirection'
  readonly to: '/install' | '/login' | '/'
  constructor(to: Redirection['to']) {
    super(to)
    this.to = to
  }
}

/** Status routes. They never look up a session, because they must work when the settings store does not. */
const STATE = new Set(['GET /health', 'GET /ready', 'GET /build-info.json', 'GET /public-url'])

/** Exact routes that are open before installation. */
const BEFORE_INSTALL = new Set([
  'GET /install',
  'GET /install.html',
  'POST /api/install',
  'GET /auth/status',
  ...STATE,
])

/** A foreign page must not sign a browser in, even without a cookie. */
const SIGN_INS = new Set(['POST /login', 'POST /login/passkey', 'POST /login/passkey/options'])

/** The telephony provider's routes, which need proof of their own. Its proxies may change the Host. */
const PROVIDER = [
  'GET /voice-markup',
  'POST /voice-markup',
  'POST /sms',
  'POST /sms/status',
  'POST /voice-status',
  'POST /relay-ended',
  // The token of the call follows in the socket.
  'UPGRADE /call',
  'UPGRADE /relay',
]

/** The assistant may run in a container, which knows this machine by another name. Each task has its own token. */
const CALLBACK = 'POST /api/copilot/callback'

/** Exact routes that need no session. Everything else does, including paths that do not exist. */
const WITHOUT_SESSION = new Set([...BEFORE_INSTALL, 'GET /login', ...SIGN_INS, ...PROVIDER, CALLBACK])

/** Its last part is the proof. Anything else there is not found, with and without a session. */
const CALENDAR_FEED = /^GET \/calendar\/[^/]+$/

/** For monitors alone, also before installation and under any host, because they prove themselves. */
const METRICS = 'GET /metrics'

const UNDER_ANY_HOST = new Set(['GET /health', 'GET /ready', CALLBACK, ...PROVIDER])

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Bounds the work of decoding a path; no proxy encodes one more often than this. */
const MAX_DECODINGS = 4

const HOST_NOT_ALLOWED = english`The service does not answer under this host name. Open it by its Public URL, as localhost or by its IP address, or add the name to ALLOWED_HOSTS.`

export function createAccessControl(options: {
  readonly account: Pick<OwnerAccount, 'isInstalled'>
  readonly sessions: Pick<Sessions, 'find'>
  readonly isAllowedHost: IsAllowedHost
  /** Counts refused strangers. */
  readonly intrusions: Pick<IntrusionCounter, 'count'>
  /** Whether the web app has a file at that path. Its files are public. */
  readonly isStaticFile: (path: string) => boolean
  readonly isMonitor: IsMonitor
}) {
  const { account, sessions, isAllowedHost, intrusions, isStaticFile, isMonitor } = options

  function requireOwnOrigin(incoming: IncomingMessage, caller: Caller): void {
    if (isFromOwnOrigin(incoming, caller)) return
    intrusions.count('foreign_origin')
    throw new Refusal(403, 'foreign_origin', msg`The request comes from a page of another origin.`)
  }

  return {
    /**
     * Returns the session of a request that may reach its route, null for a stranger on a public path. Throws a
     * refusal or, for a person who follows a link, a redirection. `path` must be the one that the router matches,
     * so that both judge the same path. `method` is UPGRADE for a WebSocket handshake.
     */
    check(incoming: IncomingMessage, caller: Caller, method: string, path: string): Session | null {
      const route = `${method === 'HEAD' ? 'GET' : method} ${path}`
      // For everyone else, there is nothing at this address.
      if (route === METRICS && isMonitor(incoming)) return null
      if (!UNDER_ANY_HOST.has(route) && !isAllowedHost(incoming.headers.host)) {
        intrusions.count('foreign_host')
        throw new Refusal(403, 'host_not_allowed', HOST_NOT_ALLOWED)
      }
      if (isHiddenPath(incoming.url ?? ''))
        throw new Refusal(404, 'not_found', msg`There is nothing at this address.`)
      const isFile = SAFE_METHODS.has(method) && isStaticFile(path)

      if (!account.isInstalled()) {
        if (route === 'POST /api/install') requireOwnOrigin(incoming, caller)
        if (isFile || BEFORE_INSTALL.has(route)) return null
        if (isNavigation(incoming)) throw new Redirection('/install')
        throw new Refusal(
          503,
          'not_configured',
          msg`The service is not installed yet. Open /install in a browser.`,
        )
      }
      if (isFile || STATE.has(route)) return null
      if (route === 'GET /install' || route === 'GET /install.html') throw new Redirection('/')

      const token = tokenFromCookies(incoming.headers.cookie)
      const session = token === null ? null : sessions.find(token)
      // A foreign page can make a browser send its cookie (CSRF) or sign in with the attacker's password. Browsers
      // send no preflight for upgrades, so only this check keeps such a page off the sockets.
      const isGuarded = token !== null || SIGN_INS.has(route)
      if (isGuarded && !SAFE_METHODS.has(method)) requireOwnOrigin(incoming, caller)
      if (session !== null || WITHOUT_SESSION.has(route) || CALENDAR_FEED.test(route)) return session
      if (isNavigation(incoming)) throw new Redirection('/login')
      intrusions.count('no_session')
      throw new Refusal(401, 'no_session', msg`Sign in first.`)
    },
  }
}

/** Whether a person follows a link, as opposed to a program calling the API. */
export function isNavigation(incoming: IncomingMessage): boolean {
  return incoming.method === 'GET' && (incoming.headers.accept ?? '').includes('text/html')
}

/** Browsers send `Origin` or `Sec-Fetch-Site`. A request with neither comes from no browser. */
function isFromOwnOrigin(incoming: IncomingMessage, caller: Caller): boolean {
  const { origin } = incoming.headers
  if (origin !== undefined) return caller.isOwnOrigin(origin)
  return !isCrossSite(incoming.headers)
}

/** Whether any path segment begins with a dot, however often it is percent-encoded. */
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
