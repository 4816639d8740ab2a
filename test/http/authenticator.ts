import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

const PRESENT = 0x01
const VERIFIED = 0x04
const ATTESTED = 0x40

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const base64url = (data: string | Buffer) => Buffer.from(data).toString('base64url')

type Options = { readonly challenge: string }
/** What a phishing page or a careless authenticator would do differently. */
type Flaws = { readonly origin?: string; readonly rpId?: string; readonly isVerified?: boolean }

/** An authenticator with one ES256 passkey (WebAuthn, 6). Signs what it is asked to, like a browser on that page. */
export function createAuthenticator(site: { readonly rpId: string; readonly origin: string }) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  let counter = 0

  function authenticatorData({ rpId = site.rpId, isVerified = true }: Flaws, attested?: Buffer): Buffer {
    counter += 1
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    const flags = PRESENT | (isVerified ? VERIFIED : 0) | (attested ? ATTESTED : 0)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested ?? Buffer.alloc(0)])
  }

  const clientData = (type: string, { challenge }: Options, { origin = site.origin }: Flaws) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

  const answer = (response: object) => ({
    id: base64url(id),
    rawId: base64url(id),
    type: 'public-key',
    response,
  })

  return {
    id: base64url(id),
    register(options: Options, flaws: Flaws = {}) {
      // CBOR (RFC 8949): a COSE key {1: 2, 3: -7, -1: 1, -2: x, -3: y}, then {fmt, attStmt, authData}.
      const key = Buffer.concat([
        Buffer.from('a501020326200121' + '5820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ])
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key])
      const data = authenticatorData(flaws, attested)
      const attestationObject = Buffer.concat([
        Buffer.from('a3', 'hex'),
        Buffer.from('63', 'hex'),
        Buffer.from('fmt'),
        Buffer.from('64', 'hex'),
        Buffer.from('none'),
        Buffer.from('67', 'hex'),
        Buffer.from('attStmt'),
        Buffer.from('a068', 'hex'),
        Buffer.from('authData'),
        Buffer.from([0x58, data.length]),
        data,
      ])
      return answer({
        clientDataJSON: base64url(clientData('webauthn.create', options, flaws)),
        attestationObject: base64url(attestationObject),
      })
    },
    signIn(options: Options, flaws: Flaws = {}) {
      const data = authenticatorData(flaws)
      const json = clientData('webauthn.get', options, flaws)
      return answer({
        clientDataJSON: base64url(json),
        authenticatorData: base64url(data),
        signature: base64url(sign('sha256', Buffer.concat([data, sha256(json)]), privateKey)),
      })
    },
  }
}
