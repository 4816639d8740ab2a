import { msg } from '../../language/msg.ts'
import type { Site } from '../../settings/passkeys.ts'
import type { Settings } from '../../settings/settings.ts'
import { isAddress, nameOfHost } from './caller.ts'
import type { HttpContext } from './env.ts'
import { conflict } from './problem.ts'

/**
 * The site of a request, for passkeys: the host of an https Public URL, or localhost. Null elsewhere: browsers offer
 * passkeys only on https or localhost, and never for an IP address (WebAuthn, 5.1.2).
 */
export function siteOf(c: HttpContext, settings: Pick<Settings, 'get'>): Site | null {
  const host = (c.env.incoming.headers.host ?? '').toLowerCase()
  const { isHttps } = c.get('caller')
  if (nameOfHost(host) === 'localhost')
    return { rpId: 'localhost', origin: `${isHttps ? 'https' : 'http'}://${host}` }
  const publicUrl = new URL(settings.get('PUBLIC_URL') ?? 'http://unset.invalid')
  const { protocol, hostname, origin } = publicUrl
  if (protocol !== 'https:' || publicUrl.host !== host || isAddress(nameOfHost(hostname))) return null
  return { rpId: hostname, origin }
}

/** As `siteOf`. Throws 409 where no passkey can be used. */
export function requireSite(c: HttpContext, settings: Pick<Settings, 'get'>): Site {
  const site = siteOf(c, settings)
  if (site === null)
    throw conflict(
      'passkeys_unavailable',
      msg`Passkeys work only under an https Public URL or as localhost, not under an IP address.`,
    )
  return site
}

/** The parts of a browser's response that are verified, as the library wants them. */
export function responseOf<R>(response: R): R & { readonly clientExtensionResults: Record<never, never> } {
  return { ...response, clientExtensionResults: {} }
}
