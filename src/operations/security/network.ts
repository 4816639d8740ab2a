import { english } from '../../language/message.ts'
import { msg, translated } from '../../language/msg.ts'
import { wideNetworks } from '../../settings/proxy-list.ts'
import { type Finding, ok, problem, warning } from './check.ts'

/** How the service can be reached. */
export type Reach = {
  /** HOST. */
  readonly host: string
  /** PUBLIC_URL. */
  readonly publicUrl: string | null
  /** Where the owner's browser opened the page; null if nobody did. */
  readonly origin: string | null
}

const HTTPS = english`Put a reverse proxy with a certificate in front, and set PUBLIC_URL to its https address.`

export function httpsFinding({ host, publicUrl, origin }: Reach): Finding {
  if (origin !== null && !isPrivate(origin))
    return problem(
      msg`You opened this page at ${origin}. Anybody on the way can read your password.`,
      translated(HTTPS),
    )
  if (publicUrl !== null && !isPrivate(publicUrl))
    return problem(
      msg`PUBLIC_URL is ${publicUrl}. Anybody on the way can read your password.`,
      translated(HTTPS),
    )
  if (publicUrl !== null) return ok(msg`Browsers reach Delegate at ${publicUrl}.`)
  return isLoopback(host)
    ? ok(msg`Only this machine can reach Delegate.`)
    : problem(
        msg`Delegate listens on ${host} without https.`,
        msg`${translated(HTTPS)} Or set HOST to 127.0.0.1.`,
      )
}

export function hostFinding({ host, publicUrl, origin }: Reach): Finding {
  if (publicUrl === null)
    return isLoopback(host)
      ? ok(msg`Delegate answers on this machine only.`)
      : warning(msg`PUBLIC_URL is not set.`, msg`Set PUBLIC_URL to the address that you open in the browser.`)
  return origin === null || origin === publicUrl || isLoopback(new URL(origin).hostname)
    ? ok(msg`PUBLIC_URL is ${publicUrl}.`)
    : warning(
        msg`You opened this page at ${origin}, but PUBLIC_URL is ${publicUrl}.`,
        msg`Open the Public URL, or set it to the address that you use.`,
      )
}

export function proxyFinding(options: {
  readonly publicUrl: string | null
  /** TRUSTED_PROXY. */
  readonly trusted: string | null
  /** Peers that forward requests and are not trusted; null if only the running service knows. */
  readonly undeclared: readonly string[] | null
}): Finding {
  const { publicUrl, trusted, undeclared } = options
  const wide = wideNetworks(trusted)
  if (wide.length > 0)
    return warning(
      msg`TRUSTED_PROXY lists ${wide.join(', ')}. Any machine there can forge the address of a visitor.`,
      msg`List only the addresses of your proxies.`,
    )
  if (undeclared !== null && undeclared.length > 0)
    return warning(
      msg`${undeclared.join(', ')} forwards requests, but TRUSTED_PROXY does not list it. All its visitors count as one.`,
      msg`If it is your proxy, add it to TRUSTED_PROXY.`,
    )
  if (trusted === null && publicUrl?.startsWith('https:'))
    return warning(
      msg`PUBLIC_URL is https, so a proxy is in front, but TRUSTED_PROXY is not set. All its visitors count as one.`,
      msg`Set TRUSTED_PROXY to the address of your proxy.`,
    )
  const known = trusted === null ? msg`No proxy is set up.` : msg`TRUSTED_PROXY lists ${trusted}.`
  return ok(
    undeclared === null
      ? msg`${known} Whether another one forwards requests is known only while Delegate runs: see its Security page.`
      : known,
  )
}

/** Whether nobody on the way can read what is sent to a URL. */
export function isPrivate(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || isLoopback(hostname)
}

const isLoopback = (host: string) => host === 'localhost' || /^127\.|^\[?::1\]?$/.test(host)
