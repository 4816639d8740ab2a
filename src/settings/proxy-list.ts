import { BlockList, isIP } from 'node:net'
import * as z from 'zod'
import { english } from '../language/message.ts'

/** 10.0.0.0/8 and fc00::/7 are the largest private networks. Anything larger includes strangers. */
const SHORTEST_PREFIX = { ipv4: 8, ipv6: 7 } as const

/** Container networks are not larger. */
const WIDE_PREFIX = { ipv4: 16, ipv6: 64 } as const

const mapped = new BlockList()
mapped.addSubnet('::ffff:0:0', 96, 'ipv6')

type Network = { readonly address: string; readonly prefix: number; readonly family: 'ipv4' | 'ipv6' }

/** Comma-separated addresses and networks (CIDR) of proxies; see `parseProxyList`. */
export const proxyListSchema = z
  .string()
  .trim()
  .min(1, english`must not be empty`)
  .max(1000)
  .transform((text, context) => {
    const parts = splitList(text)
    const networks = parts.map(parseNetwork)
    if (networks.length === 0 || networks.includes(null)) {
      context.addIssue(english`must be addresses or networks like 10.0.0.0/8, separated by commas`)
      return z.NEVER
    }
    if (networks.some((network) => network && holdsStrangers(network))) {
      context.addIssue(
        english`must be the proxy's own address: a network this large lets any client forge its address`,
      )
      return z.NEVER
    }
    return parts.join(',')
  })

function holdsStrangers({ address, prefix, family }: Network): boolean {
  if (prefix < SHORTEST_PREFIX[family]) return true
  if (family === 'ipv4') return false
  // IPv4-mapped IPv6 networks (::ffff:0:0/96) match here too.
  if (mapped.check(address, 'ipv6')) return prefix < 96 + SHORTEST_PREFIX.ipv4
  const network = new BlockList()
  network.addSubnet(address, prefix, family)
  return network.check('::ffff:0:0', 'ipv6')
}

/** Returns whether an address belongs to a listed proxy; always false if the list is unset. */
export function parseProxyList(list: string | null): (address: string) => boolean {
  const trusted = new BlockList()
  for (const part of splitList(list ?? '')) {
    const network = parseNetwork(part)
    if (network) trusted.addSubnet(network.address, network.prefix, network.family)
  }
  return (address) => {
    const family = isIP(address)
    return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** Listed networks with room for thousands of strangers, as written. */
export function wideNetworks(list: string | null): string[] {
  return splitList(list ?? '').filter((part) => {
    const network = parseNetwork(part)
    return network !== null && network.prefix < WIDE_PREFIX[network.family]
  })
}

function splitList(list: string): string[] {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function parseNetwork(part: string): Network | null {
  const [address = '', prefixText, ...rest] = part.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return null
  const bits = version === 6 ? 128 : 32
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return null
  const prefix = prefixText === undefined ? bits : Number(prefixText)
  return prefix <= bits ? { address, prefix, family: version === 6 ? 'ipv6' : 'ipv4' } : null
}
