import type { OutgoingHttpHeaders } from 'node:http'

/**
 * Everything that pages load comes from the service itself, as a file: no inline script or style, no frame, no
 * other origin. `blob:` is for audio that the page itself recorded or received.
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
  // Almost everything is somebody's private data; what may be kept says so itself.
  'cache-control': 'no-store',
} as const

/** What every answer carries, whoever makes it. A route may replace `cache-control`. */
export function securityHeaders(requestId: string, isHttps: boolean): OutgoingHttpHeaders {
  return {
    ...ALWAYS,
    'x-request-id': requestId,
    ...(isHttps ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  }
}
