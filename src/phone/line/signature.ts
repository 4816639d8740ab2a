import { type ParsedUrlQuery, parse } from 'node:querystring'
import webhooks from 'twilio/lib/webhooks/webhooks.js'

/** Form fields as posted: untrimmed, a repeated name as a list. The signature covers all of them. */
export type FormFields = Readonly<ParsedUrlQuery>

/** `pathAndQuery` as in the request line; `signature` is the header `x-twilio-signature`. */
export type SignedRequest = { readonly pathAndQuery: string; readonly signature: string | undefined }

/**
 * Verifies in constant time that the provider signed a request: HMAC-SHA1 over the configured Public URL and
 * all fields (the SDK's validateRequest). Host and forwarded headers are not trusted. A signature has no time
 * or nonce, so handlers must be idempotent. Throws if `publicUrl` is not an absolute http(s) URL.
 */
export function createSignatureVerifier(options: { readonly authToken: string; readonly publicUrl: string }) {
  if (!/^https?:$/.test(new URL(options.publicUrl).protocol)) throw new TypeError('publicUrl must be http(s)')
  // Not normalised, because the provider signs the URL exactly as configured.
  const base = options.publicUrl.replace(/(?<!\/)\/+$/, '')
  const socketBase = base.replace(/^http/i, 'ws')
  const { authToken } = options
  const valid = (signature: string | undefined, url: string, fields: FormFields) =>
    signature !== undefined && webhooks.validateRequest(authToken, signature, url, fields)

  return {
    /** Verifies a form post, or a GET without fields. */
    form: ({ pathAndQuery, signature }: SignedRequest, fields: FormFields) =>
      valid(signature, base + pathAndQuery, fields),
    /** Verifies a JSON post, whose URL carries `bodySHA256`. `body` is the raw text. */
    json: ({ pathAndQuery, signature }: SignedRequest, body: string) =>
      signature !== undefined &&
      webhooks.validateRequestWithBody(authToken, signature, base + pathAndQuery, body),
    /** Verifies the WebSocket upgrade of a media stream, which is signed as `wss` without fields. */
    upgrade: ({ pathAndQuery, signature }: SignedRequest) => {
      const url = socketBase + pathAndQuery
      // The provider does not document whether it signs a trailing slash.
      return valid(signature, url, {}) || valid(signature, `${url}/`, {})
    },
  }
}

/** Several times as many fields as any webhook of the provider has. */
const MAX_FIELDS = 1_000

/**
 * Parses a form body without dropping, trimming or merging fields, so that its signature can be verified.
 * Null if it has more than MAX_FIELDS.
 */
export function parseForm(body: string): FormFields | null {
  // Parses no more than it must to count them, because the sender is not verified yet.
  const fields = parse(body, '&', '=', { maxKeys: MAX_FIELDS + 1 })
  return Object.values(fields).flat().length > MAX_FIELDS ? null : fields
}
