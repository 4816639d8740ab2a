const CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])
/** TLS failed before anything was sent: a certificate, or another protocol. */
const TLS = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO)/

/** The system's or undici's code of a failed request; `fetch` hides it in the cause of its error. */
export function networkCode(error: unknown): string {
  for (const each of [error, error instanceof Error ? error.cause : undefined])
    if (typeof each === 'object' && each !== null && 'code' in each && typeof each.code === 'string')
      return each.code
  return ''
}

/** Whether TLS failed, by the code of a request's error. */
export const isTlsRefused = (code: string): boolean => TLS.test(code)

/** Whether a request with this error cannot have reached anybody: no address, no connection, no TLS. */
export function neverReached(error: unknown): boolean {
  const code = networkCode(error)
  return CODES.has(code) || isTlsRefused(code) || failedToConnect(error)
}

/** A timeout of the system may also come later, on a connection that stood. */
function failedToConnect(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.every(failedToConnect)
  return ('syscall' in error && error.syscall === 'connect') || failedToConnect(error.cause)
}
