import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { parseProxyList } from '../../settings/proxy-list.ts'
import type { Settings } from '../../settings/settings.ts'

/** Who sent a request, according to its connection and headers. */
export type Caller = {
  /** The client's IP address. X-Forwarded-For counts only from proxies that TRUSTED_PROXY lists. */
  readonly address: string
  /**
   * Whether the request comes directly from this machine: loopback peer and Host, no forwarding header, and
   * not from a page of another origin (which also rules out DNS rebinding).
   */
  isDirectLoopback(): boolean
  readonly isHttps: boolean
  /** Whether an `Origin` is the service's own: that of this request's Host, or the Public URL. */
  isOwnOrigin(origin: string): boolean
}

export type IdentifyCaller = (incoming: IncomingMessage) => Caller

/** Bounds the undeclared proxies, because strangers can send forwarding headers too. */
const MAX_UNDECLARED = 20

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Families of names, because every proxy has its own. A false match only makes a direct request prove more. */
const FORWARDING_HEADER =
  /forward|proxy|(?:ip|addr|address)$|^(?:via|(?:cdn|cf|fastly|x-envoy|x-original)-.+)$/

/** Identifies callers by the current settings. Calls `onUndeclaredProxy` once for each undeclared proxy. */
export function createCallerIdentification(
  settings: Pick<Settings, 'get'>,
  onUndeclaredProxy: (peer: string) => void,
) {
  const undeclared = new Set<string>()
  const trustedProxies = () => parseProxyList(settings.get('TRUSTED_PROXY'))

  function identify(incoming: IncomingMessage): Caller {
    const { headers } = incoming
    const peer = plainAddress(incoming.socket.remoteAddress ?? '')
    const isTrusted = trustedProxies()
    const isFromProxy = isTrusted(peer)
    if (isForwarded(headers) && !isFromProxy && !undeclared.has(peer) && undeclared.size < MAX_UNDECLARED) {
      undeclared.add(peer)
      onUndeclaredProxy(peer)
    }
    const host = (headers.host ?? '').toLowerCase()
    const publicUrl = settings.get('PUBLIC_URL')
    const isHttps = cameByHttps(incoming, host, publicUrl)
    const isOwnOrigin = (origin: string) =>
      origin === publicUrl || origin.toLowerCase() === `${isHttps ? 'https' : 'http'}://${host}`
    return {
      address: isFromProxy ? forwardedAddress(headers, peer, isTrusted) : peer,
      isDirectLoopback: () => isDirectLoopback(incoming, isOwnOrigin),
      isHttps,
      isOwnOrigin,
    }
  }

  return {
    identify,
    /** Peers that have forwarded requests since the start, and that TRUSTED_PROXY does not list. */
    undeclaredProxies(): readonly string[] {
      const isTrusted = trustedProxies()
      return [...undeclared].filter((peer) => !isTrusted(peer))
    },
  }
}

const isForwarded = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => FORWARDING_HEADER.test(name))

/** As `Caller.isDirectLoopback`. Without `isOwnOrigin`, no page counts. */
export function isDirectLoopback(
  { headers, socket }: IncomingMessage,
  isOwnOrigin = (_origin: string) => false,
): boolean {
  return (
    isLoopbackAddress(plainAddress(socket.remoteAddress ?? '')) &&
    isLoopbackHost(nameOfHost(headers.host ?? '')) &&
    !isForwarded(headers) &&
    (headers.origin === undefined ? !isCrossSite(headers) : isOwnOrigin(headers.origin))
  )
}

/**
 * The proxy that terminates TLS sets X-Forwarded-Proto. Trusting it from any peer is safe: a stranger who
 * lies only gets a `Secure` cookie that they cannot use, and a page cannot send the header across origins.
 */
function cameByHttps(incoming: IncomingMessage, host: string, publicUrl: string | null): boolean {
  const [proto = ''] = String(incoming.headers['x-forwarded-proto'] ?? '').split(',')
  if (proto !== '') return proto.trim().toLowerCase() === 'https'
  return publicUrl === `https://${host}`
}

/** The last address in X-Forwarded-For that is no trusted proxy. Clients can forge earlier entries. */
function forwardedAddress(
  headers: IncomingHttpHeaders,
  peer: string,
  trustedProxy: (address: string) => boolean,
): string {
  const hops = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => plainAddress(hop.trim()))
  let nearest = peer
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) break
    nearest = hop
    if (!trustedProxy(hop)) break
  }
  return nearest
}

/** Browsers send no Origin with the GET of an image or a link, but they do send Sec-Fetch-Site. */
export function isCrossSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Writes an IPv4-mapped IPv6 address as plain IPv4. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

function isLoopbackAddress(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** The name or address in a `Host`, without its port, brackets and final dot. */
export function nameOfHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}

/** Whether a name is an IP address. */
export const isAddress = (name: string): boolean => isIP(name) !== 0

/** Whether a name always means this machine. */
export function isLoopbackHost(name: string): boolean {
  return name === 'localhost' || isLoopbackAddress(name)
}
