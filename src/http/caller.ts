import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { parseProxyList } from '../settings/proxy-list.ts'
import type { Settings } from '../settings/settings.ts'

/** Who sent a request, as far as the connection and its headers tell. */
export type Caller = {
  /** The client's IP address; a proxy is believed about it only if TRUSTED_PROXY lists the proxy. */
  readonly address: string
  /**
   * Straight from this machine: loopback peer, loopback Host, no forwarding header, and no page of another
   * origin behind it (which also rules out DNS rebinding).
   */
  isDirectLoopback(): boolean
  readonly isHttps: boolean
  /** Whether an `Origin` is the service's own: that of this request's Host, or the Public URL's. */
  isOwnOrigin(origin: string): boolean
}

export type IdentifyCaller = (incoming: IncomingMessage) => Caller

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const FORWARDING_HEADER =
  /forwarded|^(?:via|x-real-ip|(?:x-|fly-|fastly-|true-|x-cluster-)client-ip|x-original-.+|x-envoy-.+|cf-.+)$/

/**
 * Reads callers by the settings in force at each request. Reports each request that was forwarded by a peer which
 * TRUSTED_PROXY does not list.
 */
export function createCallerIdentification(
  settings: Pick<Settings, 'get' | 'subscribe'>,
  onUndeclaredProxy: (peer: string) => void = () => undefined,
): IdentifyCaller {
  let trustedProxy = parseProxyList(settings.get('TRUSTED_PROXY'))
  settings.subscribe((keys) => {
    if (keys.has('TRUSTED_PROXY')) trustedProxy = parseProxyList(settings.get('TRUSTED_PROXY'))
  })

  return (incoming) => {
    const { headers } = incoming
    const peer = plainAddress(incoming.socket.remoteAddress ?? '')
    const isFromProxy = trustedProxy(peer)
    const isForwarded = Object.keys(headers).some((name) => FORWARDING_HEADER.test(name))
    if (isForwarded && !isFromProxy) onUndeclaredProxy(peer)
    const host = (headers.host ?? '').toLowerCase()
    const publicUrl = settings.get('PUBLIC_URL')
    const isHttps = cameByHttps(incoming, host, publicUrl)
    const isOwnOrigin = (origin: string) =>
      origin === publicUrl || origin.toLowerCase() === `${isHttps ? 'https' : 'http'}://${host}`
    return {
      address: isFromProxy ? forwardedAddress(headers, peer, trustedProxy) : peer,
      isDirectLoopback: () =>
        isLoopbackAddress(peer) &&
        isLoopbackHost(host) &&
        !isForwarded &&
        (headers.origin === undefined ? !isCrossSite(headers) : isOwnOrigin(headers.origin)),
      isHttps,
      isOwnOrigin,
    }
  }
}

/**
 * Whoever terminates TLS says so in X-Forwarded-Proto. Believed from anybody: a stranger who lies gets a `Secure`
 * cookie that he cannot use, and a page in a browser cannot send the header across origins.
 */
function cameByHttps(incoming: IncomingMessage, host: string, publicUrl: string | null): boolean {
  const [proto = ''] = String(incoming.headers['x-forwarded-proto'] ?? '').split(',')
  if (proto !== '') return proto.trim().toLowerCase() === 'https'
  return publicUrl === `https://${host}`
}

/** The nearest address in X-Forwarded-For that no trusted proxy has: whatever is left of it may be made up. */
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

/** Browsers send no Origin with the GET of a picture or a link, but say where it comes from. */
export function isCrossSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** An IPv4 address that came over an IPv6 socket is written as what it is. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

function isLoopbackAddress(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d{1,5}$/, '')
  return name === 'localhost' || isLoopbackAddress(name.replace(/^\[(.*)\]$/, '$1'))
}
