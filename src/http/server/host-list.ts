import type { Settings } from '../../settings/settings.ts'
import { isAddress, isLoopbackHost, nameOfHost } from './caller.ts'

export type IsAllowedHost = (host: string | undefined) => boolean

/**
 * Whether requests may name this Host: a loopback name, any literal address, the host of PUBLIC_URL, or one of
 * ALLOWED_HOSTS. A page of another site can point its own name at this machine (DNS rebinding) and would then count
 * as the service's own origin; it cannot make a browser send another name, nor an address.
 */
export function createHostList(
  settings: Pick<Settings, 'get'>,
  allowedHosts: readonly string[],
): IsAllowedHost {
  return (host = '') => {
    const name = nameOfHost(host)
    if (isLoopbackHost(name) || isAddress(name) || allowedHosts.includes(name)) return true
    const publicUrl = settings.get('PUBLIC_URL')
    return publicUrl !== null && name === nameOfHost(new URL(publicUrl).host)
  }
}
