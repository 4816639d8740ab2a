import webhooks from 'twilio/lib/webhooks/webhooks.js'

/** Form fields as posted: untrimmed, a repeated name as a list. All of them are signed, known or not. */
export type FormFields = Readonly<Record<string, string | string[]>>

export type SignatureVerifier = {
  /** A form post, or a GET (no fields): whether the provider signed exactly this. */
  form(request: SignedRequest, fields: FormFields): boolean
  /** A JSON post: its URL carries `bodySHA256`. `body` is the raw text. */
  json(request: SignedRequest, body: string): boolean
  /** The WebSocket upgrade of a media stream: signed as `wss`, without fields. */
  upgrade(request: SignedRequest): boolean
}

/** `pathAndQuery` raw, as it stands in the request line; `signature` the header `x-twilio-signature`. */
export type SignedRequest = { readonly pathAndQuery: string; readonly signature: string | undefined }

/**
 * Checks that a request comes from the provider: HMAC-SHA1 over the URL as the provider knows it, that is the
 * configured Public URL and never what Host or forwarded headers claim, and over every field (the SDK's
 * validateRequest). A signature has neither time nor nonce: whoever acts on a request must recognise repeats.
 * The comparison takes the same time whatever differs. `publicUrl` must be an absolute http(s) URL, else throws.
 */
export function createSignatureVerifier(options: {
  readonly authToken: string
  readonly publicUrl: string
}): SignatureVerifier {
  if (!/^https?:$/.test(new URL(options.publicUrl).protocol)) throw new TypeError('publicUrl must be http(s)')
  // As it was configured, letter by letter: the provider signs what it was given, not what it amounts to.
  const base = options.publicUrl.replace(/(?<!\/)\/+$/, '')
  const socketBase = base.replace(/^http/i, 'ws')
  const { authToken } = options
  const valid = (signature: string | undefined, url: string, fields: FormFields) =>
    signature !== undefined && webhooks.validateRequest(authToken, signature, url, fields)

  return {
    form: ({ pathAndQuery, signature }, fields) => valid(signature, base + pathAndQuery, fields),
    json: ({ pathAndQuery, signature }, body) =>
      signature !== undefined &&
      webhooks.validateRequestWithBody(authToken, signature, base + pathAndQuery, body),
    upgrade: ({ pathAndQuery, signature }) => {
      const url = socketBase + pathAndQuery
      // The provider's documentation leaves open whether it signs a trailing slash.
      return valid(signature, url, {}) || valid(signature, `${url}/`, {})
    },
  }
}

/** More fields than any webhook of the provider has, several times over. */
const MAX_FIELDS = 1_000

/**
 * Reads a form body so that its signature can be checked: no field dropped, trimmed or merged. Null where it has more
 * than a thousand fields, before any of them is looked at: whoever sent it need not have signed anything yet.
 */
export function parseForm(body: string): FormFields | null {
  if (hasMoreFields(body, MAX_FIELDS)) return null
  const fields = new Map<string, string | string[]>()
  for (const [name, value] of new URLSearchParams(body)) {
    const before = fields.get(name)
    if (before === undefined) fields.set(name, value)
    else fields.set(name, Array.isArray(before) ? [...before, value] : [before, value])
  }
  return Object.fromEntries(fields)
}

function hasMoreFields(body: string, most: number): boolean {
  let at = -1
  for (let fields = 1; fields <= most; fields += 1) {
    at = body.indexOf('&', at + 1)
    if (at < 0) return false
  }
  return true
}
