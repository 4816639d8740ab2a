import { msg } from '../../language/msg.ts'
import { createSignatureVerifier, type FormFields, parseForm } from '../../phone/line/signature.ts'
import { type Attestation, attestationOf, ownerNumbersOf, type Party, partyOf } from '../../settings/party.ts'
import type { Settings } from '../../settings/settings.ts'
import type { HttpContext } from '../server/env.ts'
import type { IntrusionCounter } from '../server/intrusion-counter.ts'
import { isJson } from '../server/json-body.ts'
import { Refusal } from '../server/problem.ts'

/** A request that is accepted as the provider's. */
export type ProviderRequest = {
  /** The value of a field; empty if absent. */
  field(name: string): string
  /** Who is on the line. Without a signature it is a guest, unless the development routes are on. */
  party(from: string): Party
  /** What vouches for the caller ID of a call. */
  attestation(from: string): Attestation
  /** False if no Public URL is set to verify the signature with. Such a request must leave no trace. */
  readonly isVerified: boolean
}

export type ProviderWebhooks = ReturnType<typeof createProviderWebhooks>

/** Longer field values are cut. */
const MAX_FIELD_CHARS = 20_000

/**
 * Accepts requests that the provider signed. Without an auth token nothing can be verified, so every webhook
 * is refused, except a developer's direct requests from this machine while the development routes are on.
 */
export function createProviderWebhooks(options: {
  readonly settings: Pick<Settings, 'get' | 'webhookToken'>
  readonly intrusions: Pick<IntrusionCounter, 'count'>
  readonly devRoutes: boolean
}) {
  const { settings, intrusions } = options

  function refuse(detail: string, code = 'bad_signature'): never {
    intrusions.count('bad_signature')
    throw new Refusal(403, code, detail)
  }

  /** What to verify a request with; null for a developer's own, which is not signed. */
  function signatureOf(c: HttpContext): { authToken: string; signature: string } | null {
    const authToken = settings.webhookToken()
    if (authToken === null) {
      if (!options.devRoutes || !c.get('caller').isDirectLoopback())
        refuse(msg`No auth token is set, so this request cannot be verified.`, 'telephony_not_configured')
      return null
    }
    const signature = c.req.header('x-twilio-signature')
    if (signature === undefined) refuse(msg`The request is not signed.`)
    return { authToken, signature }
  }

  function verify(
    c: HttpContext,
    signed: ReturnType<typeof signatureOf>,
    posted: Posted,
  ): { isSigned: boolean; isVerified: boolean } {
    const publicUrl = settings.get('PUBLIC_URL')
    if (signed === null) return { isSigned: false, isVerified: true }
    if (publicUrl === null) return { isSigned: false, isVerified: false }
    const verifier = createSignatureVerifier({ authToken: signed.authToken, publicUrl })
    // The raw request line, as the provider signed it.
    const pathAndQuery = c.env.incoming.url ?? ''
    const request = { pathAndQuery, signature: signed.signature }
    const isValid =
      posted.json === null ? verifier.form(request, posted.fields) : verifier.json(request, posted.json)
    if (!isValid) refuse(msg`The signature is not valid.`)
    return { isSigned: true, isVerified: true }
  }

  return {
    /** Whether the provider signed a socket upgrade. An unsigned one may still present a token. */
    isSignedUpgrade(c: HttpContext): boolean {
      const authToken = settings.webhookToken()
      const publicUrl = settings.get('PUBLIC_URL')
      const signature = c.req.header('x-twilio-signature')
      if (authToken === null || publicUrl === null || signature === undefined) return false
      // The raw request line, as the provider signed it.
      const pathAndQuery = c.env.incoming.url ?? ''
      return createSignatureVerifier({ authToken, publicUrl }).upgrade({ pathAndQuery, signature })
    },
    /** Reads and verifies a request; throws 403 for one that is not the provider's. */
    async read(c: HttpContext): Promise<ProviderRequest> {
      const signature = signatureOf(c)
      const posted = await readPosted(c)
      const { isSigned, isVerified } = verify(c, signature, posted)
      const asked = formOf(new URL(c.env.incoming.url ?? '', 'http://service').search.slice(1))
      const fields = new Map(Object.entries({ ...asked, ...posted.fields }))
      const field = (name: string) => {
        const value = fields.get(name) ?? ''
        return (typeof value === 'string' ? value : (value[0] ?? '')).slice(0, MAX_FIELD_CHARS).toWellFormed()
      }
      const attestation = (from: string) => attestationOf(from, field('StirVerstat'))
      return {
        isVerified,
        field,
        attestation,
        party(from) {
          if (!isSigned && !options.devRoutes) return 'guest'
          const ownerNumbers = ownerNumbersOf(settings)
          return partyOf({
            from,
            ownerNumbers,
            signed: isSigned,
            attestation: attestation(from),
          })
        },
      }
    },
  }
}

/** A request's body. `json` is the raw text of a JSON body, whose hash is signed. */
type Posted = { readonly fields: FormFields; readonly json: string | null }

async function readPosted(c: HttpContext): Promise<Posted> {
  if (c.req.method !== 'POST') return { fields: {}, json: null }
  const text = await c.req.text()
  if (!isJson(c.req.header('content-type'))) return { fields: formOf(text), json: null }
  const parsed: unknown = text === '' ? null : JSON.parse(text)
  const entries = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : []
  // All fields that are used here are strings.
  const fields = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return { fields: Object.fromEntries(fields), json: text }
}

function formOf(text: string): FormFields {
  const fields = parseForm(text)
  if (fields === null) throw new Refusal(400, 'malformed_request', msg`The form has too many fields.`)
  return fields
}

/** An XML response to the provider. */
export function markup(c: HttpContext, xml: string): Response {
  return c.body(xml, 200, { 'content-type': 'text/xml; charset=utf-8' })
}

/** The signature covers the Public URL. Without one, a genuine request cannot be told from a forgery. */
export function unverified(): Refusal {
  return new Refusal(403, 'bad_signature', msg`Without a Public URL, the signature cannot be verified.`)
}
