import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Append } from '../../ledger/event.ts'
import { CHALLENGE_MS, createChallenges } from './challenges.ts'
import type { FactorStore } from './factor-store.ts'
import { factorAdded, factorRemoved } from './factor-store.ts'

/** Where a page of the service is open, in the words of WebAuthn. */
export type Site = {
  /** The domain that passkeys belong to. */
  readonly rpId: string
  readonly origin: string
}

/** A passkey as the owner sees it. */
export type PasskeyEntry = {
  readonly id: string
  readonly name: string
  readonly rpId: string
  readonly addedAtMs: number
  readonly lastUsedAtMs: number | null
}

/** EdDSA, ES256 and RS256: what authenticators offer, without the attestation formats that need more. */
const ALGORITHMS = [-8, -7, -257]
const MAX_PASSKEYS = 20

export type Passkeys = ReturnType<typeof createPasskeys>

/**
 * Passkeys: sign-in keys that an authenticator keeps for one domain and unlocks by fingerprint, face or PIN. That is
 * two factors in one, so a passkey signs in without a password or code.
 */
export function createPasskeys(options: {
  readonly store: FactorStore
  readonly append: Append
  readonly nowMs: () => number
  readonly randomBytes: (bytes: number) => Uint8Array
}) {
  const { store, append, nowMs, randomBytes } = options
  const challenges = createChallenges({ nowMs, randomBytes })
  // Loaded only when it is used.
  const library = () => import('@simplewebauthn/server')
  const ofSite = ({ rpId }: Site) => store.read().passkeys.filter((passkey) => passkey.rpId === rpId)

  const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
  const newChallenge = () => ({ challenge: base64url(challenges.make()), timeout: CHALLENGE_MS })

  /** The owner's id on authenticators. Random, because a second service on the same domain must not replace its keys. */
  function userHandle(): string {
    const kept = store.read().userHandle ?? base64url(randomBytes(16))
    store.write({ userHandle: kept })
    return kept
  }

  return {
    list: (): readonly PasskeyEntry[] =>
      store.read().passkeys.map(({ id, name, rpId, addedAtMs, lastUsedAtMs }) => ({
        ...{ id, name, rpId, addedAtMs, lastUsedAtMs },
      })),
    registrationOptions: ({ rpId }: Site) => ({
      ...newChallenge(),
      rp: { id: rpId, name: 'Delegate' },
      user: { id: userHandle(), name: 'owner', displayName: 'Owner' },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' as const })),
      excludeCredentials: store.read().passkeys.map(({ id }) => ({ id, type: 'public-key' })),
      authenticatorSelection: { residentKey: 'required' as const, userVerification: 'required' as const },
      attestation: 'none' as const,
    }),
    /** Adds the passkey of a response to these options. */
    async add(
      { rpId, origin }: Site,
      name: string,
      response: RegistrationResponseJSON,
    ): Promise<'added' | 'invalid' | 'too_many'> {
      const { verifyRegistrationResponse } = await library()
      const verified = await verifyRegistrationResponse({
        response,
        expectedChallenge: challenges.use,
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      }).catch(() => null)
      if (!verified?.verified) return 'invalid'
      const { passkeys } = store.read()
      if (passkeys.length >= MAX_PASSKEYS) return 'too_many'
      const { id, publicKey, counter } = verified.registrationInfo.credential
      if (passkeys.some((passkey) => passkey.id === id)) return 'invalid'
      await append([factorAdded('passkey')])
      store.write({
        passkeys: [
          ...store.read().passkeys,
          {
            ...{ id, name, rpId, counter, addedAtMs: nowMs(), lastUsedAtMs: null },
            publicKey: base64url(publicKey),
          },
        ],
      })
      return 'added'
    },
    /** Null if the site has no passkey. Names none, because strangers may ask. */
    signInOptions: (site: Site) =>
      ofSite(site).length === 0
        ? null
        : { ...newChallenge(), rpId: site.rpId, userVerification: 'required' as const },
    /** Whether a response to these options is from one of the owner's passkeys. It counts once. */
    async verify(site: Site, response: AuthenticationResponseJSON): Promise<boolean> {
      const passkey = ofSite(site).find(({ id }) => id === response.id)
      if (passkey === undefined) return false
      const { verifyAuthenticationResponse } = await library()
      const { id, counter } = passkey
      const publicKey = new Uint8Array(Buffer.from(passkey.publicKey, 'base64url'))
      // The library throws for a challenge, origin, domain, signature or counter that is not right.
      const verified = await verifyAuthenticationResponse({
        response,
        expectedChallenge: challenges.use,
        expectedOrigin: site.origin,
        expectedRPID: site.rpId,
        credential: { id, publicKey, counter },
        requireUserVerification: true,
      }).catch(() => null)
      if (!verified?.verified) return false
      const used = { counter: verified.authenticationInfo.newCounter, lastUsedAtMs: nowMs() }
      store.write({
        passkeys: store.read().passkeys.map((each) => (each.id === id ? { ...each, ...used } : each)),
      })
      return true
    },
    /** False if there is no such passkey. */
    async remove(id: string): Promise<boolean> {
      if (!store.read().passkeys.some((passkey) => passkey.id === id)) return false
      await append([factorRemoved('passkey', 'owner')])
      store.write({ passkeys: store.read().passkeys.filter((passkey) => passkey.id !== id) })
      return true
    },
  }
}
