import { parseProxyList } from '../../settings/proxy-list.ts'
import type { Settings } from '../../settings/settings.ts'

/** Bounds the log lines, because strangers can send forwarding headers too. */
const MAX_PEERS = 20

/** Peers that have sent forwarding headers since the start although TRUSTED_PROXY does not list them. */
export type UndeclaredProxies = {
  seen(peer: string): void
  /** Those that TRUSTED_PROXY still does not list. */
  list(): readonly string[]
}

/** Calls `onFound` once per peer. */
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
