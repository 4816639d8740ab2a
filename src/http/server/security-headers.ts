import type { OutgoingHttpHeaders } from 'node:http'

/**
 * Pages load only files of the service itself: no inline scripts or styles, no frames, no other origins.
 * `blob:` allows audio that the page recorded or received.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const ALWAYS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(self), payment=(), usb=()',
  // Almost every response is private. Responses that may be cached override this.
  'cache-control': 'no-store',
} as const

/** Headers of every response. A route may override `cache-control`. */
export function securityHeaders(requestId: string, isHttps: boolean): OutgoingHttpHeaders {
  return {
    ...ALWAYS,
    'x-request-id': requestId,
    ...(isHttps ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  }
}
