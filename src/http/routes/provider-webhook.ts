import { type Party, parseOwnerNumbers, partyOf } from '../../channels/telephony/party.ts'
import { createSignatureVerifier, type FormFields, parseForm } from '../../channels/telephony/signature.ts'
import type { Settings } from '../../settings/settings.ts'
import type { HttpContext } from '../env.ts'
import type { IntrusionCounter } from '../intrusion-counter.ts'
import { Refusal } from '../problem.ts'
import type { SocketRequest } from '../sockets.ts'

/** A request that may be taken for the provider's. */
export type ProviderRequest = {
  /** One field's value; the empty string where it is absent. */
  field(name: string): string
  /** Who is on the line. A developer's unsigned request is a guest's, unless the development routes are on. */
  party(from: string): Party
  /** False where nothing could be verified, because no Public URL is set: such a request may leave no trace. */
  readonly isVerified: boolean
}

export type ProviderWebhooks = {
  /** Reads and verifies a request; throws 403 for one that is not the provider's. */
  read(c: HttpContext): Promise<ProviderRequest>
  /** Whether the provider signed the upgrade to a socket. One that did not may still prove itself otherwise. */
  isSignedUpgrade(request: Pick<SocketRequest, 'pathAndQuery' | 'headers'>): boolean
}

/** The longest value that any field of ours may have; longer ones are cut. */
const MAX_FIELD_CHARS = 20_000

/**
 * Lets in what the provider signed. Without an auth token there is nothing to verify with: then only requests
 * straight from this machine are served, so that a developer can try them.
 */
export function createProviderWebhooks(options: {
  readonly settings: Pick<Settings, 'get'>
  readonly intrusions: Pick<IntrusionCounter, 'count'>
  readonly devRoutes: boolean
}): ProviderWebhooks {
  const { settings, intrusions } = options

  function refuse(detail: string): never {
    intrusions.count('bad_signature')
    throw new Refusal(403, 'bad_signature', detail)
  }

  function verify(c: HttpContext, posted: FormFields): { isSigned: boolean; isVerified: boolean } {
    const authToken = settings.get('TELEPHONY_AUTH_TOKEN')
    if (authToken === null) {
      if (!c.get('caller').isDirectLoopback()) refuse('There is no auth token to verify this request with.')
      return { isSigned: false, isVerified: true }
    }
    const signature = c.req.header('x-twilio-signature')
    const publicUrl = settings.get('PUBLIC_URL')
    if (signature === undefined) refuse('The request is not signed.')
    if (publicUrl === null) return { isSigned: false, isVerified: false }
    const verifier = createSignatureVerifier({ authToken, publicUrl })
    // As it stands in the request line: what the provider signed, not what a router made of it.
    const pathAndQuery = c.env.incoming.url ?? ''
    if (!verifier.form({ pathAndQuery, signature }, posted)) refuse('The signature is not valid.')
    return { isSigned: true, isVerified: true }
  }

  return {
    isSignedUpgrade({ pathAndQuery, headers }) {
      const authToken = settings.get('TELEPHONY_AUTH_TOKEN')
      const publicUrl = settings.get('PUBLIC_URL')
      const signature = headers['x-twilio-signature']
      if (authToken === null || publicUrl === null || typeof signature !== 'string') return false
      return createSignatureVerifier({ authToken, publicUrl }).upgrade({ pathAndQuery, signature })
    },
    async read(c) {
      const posted = c.req.method === 'POST' ? parseForm(await c.req.text()) : {}
      const { isSigned, isVerified } = verify(c, posted)
      const asked = parseForm(new URL(c.env.incoming.url ?? '', 'http://service').search.slice(1))
      const fields = new Map(Object.entries({ ...asked, ...posted }))
      return {
        isVerified,
        field(name) {
          const value = fields.get(name) ?? ''
          return (typeof value === 'string' ? value : (value[0] ?? ''))
            .slice(0, MAX_FIELD_CHARS)
            .toWellFormed()
        },
        party(from) {
          if (!isSigned && !options.devRoutes) return 'guest'
          const ownerNumbers = parseOwnerNumbers(settings.get('OWNER_PHONE_NUMBER') ?? '')
          return partyOf({ from, ownerNumbers, signed: isSigned })
        },
      }
    },
  }
}

/** An answer to the provider. */
export function markup(c: HttpContext, xml: string): Response {
  return c.body(xml, 200, { 'content-type': 'text/xml; charset=utf-8' })
}
