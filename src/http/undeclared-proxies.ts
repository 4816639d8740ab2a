import { parseProxyList } from '../settings/proxy-list.ts'
import type { Settings } from '../settings/settings.ts'

/** A stranger may send forwarding headers too: so many addresses are worth a line in the log. */
const MAX_PEERS = 20

/** Peers that send forwarding headers although TRUSTED_PROXY does not list them, since the start. */
export type UndeclaredProxies = {
  seen(peer: string): void
  /** Those that are still not listed. */
  list(): readonly string[]
}

/** Calls `onFound` once for each peer. */
export function createUndeclaredProxies(options: {
  readonly settings: Pick<Settings, 'get'>
  readonly onFound: (peer: string) => void
}): UndeclaredProxies {
  const peers = new Set<string>()
  return {
    seen(peer) {
      if (peers.size >= MAX_PEERS || peers.has(peer)) return
      peers.add(peer)
      options.onFound(peer)
    },
    list() {
      const isListed = parseProxyList(options.settings.get('TRUSTED_PROXY'))
      return [...peers].filter((peer) => !isListed(peer))
    },
  }
}
