/** The name was not resolved, or the connection not made in time. */
const CODES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])
/** TLS failed before anything was sent, because of a certificate or the protocol. */
const TLS = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO)/

/** The error code of a failed request, from the system or undici; that of the nearest cause that has one. */
export function networkCode(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return networkCode(error.cause)
}

/** Whether an error code means that TLS failed. */
export const isTlsRefused = (code: string): boolean => TLS.test(code)

/** Whether a request that failed with this error certainly did not arrive. */
export function neverReached(error: unknown): boolean {
  const code = networkCode(error)
  return CODES.has(code) || isTlsRefused(code) || failedToConnect(error)
}

/** Checks the syscall, because a system timeout can also occur on an established connection. */
function failedToConnect(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.every(failedToConnect)
  return ('syscall' in error && error.syscall === 'connect') || failedToConnect(error.cause)
}

/**
 * The request got no response. Has no `cause`: the network's error may hold the whole request, with number
 * and key, and would be logged with it.
 */
export class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable'
  readonly code: string | null
  /** Whether the provider certainly did not receive the request. */
  readonly neverReached: boolean
  constructor(error: unknown) {
    const code = networkCode(error) || null
    super(`The telephony provider did not respond${code === null ? '' : ` (${code})`}.`)
    this.code = code
    this.neverReached = neverReached(error)
  }
}
