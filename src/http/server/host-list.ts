import type { Settings } from '../../settings/settings.ts'
import { isAddress, isLoopbackHost, nameOfHost } from './caller.ts'

export type IsAllowedHost = (host: string | undefined) => boolean

/**
 * Whether requests may name this Host: a loopback name, any literal address, the host of PUBLIC_URL (also of an
 * earlier one, until the next start), HOST, or one of ALLOWED_HOSTS. A page of another site can point its own name at
 * this machine (DNS rebinding) and would then count as the service's own origin; it cannot make a browser send another
 * name, nor an address.
 */
export function createHostList(
  settings: Pick<Settings, 'get'>,
  allowedHosts: readonly string[],
): IsAllowedHost {
  /** The hosts of PUBLIC_URL since the start: a mistake in the setting must not lock the owner out at once. */
  const publicHosts = new Set<string>()
  function addPublicHost(): void {
    const publicUrl = settings.get('PUBLIC_URL')
    if (publicUrl !== null) publicHosts.add(nameOfHost(new URL(publicUrl).host))
  }
  addPublicHost()
  return (host = '') => {
    const name = nameOfHost(host)
    if (isLoopbackHost(name) || isAddress(name) || allowedHosts.includes(name)) return true
    addPublicHost()
    return publicHosts.has(name)
  }
}
