import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Whether a literal IP address is reachable from the whole Internet. False for anything else. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast'
}

/** Resolves a host name for a connection, and fails with EACCES if any of its addresses is not public. */
export const lookupPublic: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? []
    if (error || !first) callback(error, [])
    else if (!addresses.every(({ address }) => isPublicAddress(address)))
      callback(
        Object.assign(new Error(`${hostname} has an address that is not public`), { code: 'EACCES' }),
        [],
      )
    else if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
