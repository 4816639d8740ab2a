import { execFileSync } from 'node:child_process'
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { PushConnect } from '../../src/outbound/push.ts'
import { testDirectory } from '../support/directory.ts'

export type Pushed = {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** A push service (RFC 8030) on this machine. Answers 201 unless `status` says otherwise. */
export async function startPushService() {
  const directory = testDirectory()
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      '-subj',
      '/CN=push.example',
      '-addext',
      'subjectAltName=DNS:push.example',
    ],
    { stdio: 'ignore' },
  )
  const pushed: Pushed[] = []
  const service = { status: 201 }
  const server: Server = createServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      pushed.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) })
      response.writeHead(service.status).end()
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  /** Resolves its name to this machine, which the service itself refuses to do. */
  const connect: PushConnect = {
    ca: readFileSync(cert),
    lookup: (_hostname, options, callback) =>
      options.all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4),
  }
  return Object.assign(service, { origin: `https://push.example:${port}`, pushed, connect })
}

/** A browser's side of a subscription (RFC 8291). */
export function newBrowser() {
  const ecdh = createECDH('prime256v1')
  const publicKey = ecdh.generateKeys()
  const auth = randomBytes(16)
  return {
    keys: { p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') },
    /** Decrypts a message of one record with the content coding aes128gcm (RFC 8188, 2; RFC 8291, 3.4). */
    decrypt(body: Buffer): string {
      const salt = body.subarray(0, 16)
      const keyLength = body.readUInt8(20)
      const senderKey = body.subarray(21, 21 + keyLength)
      const sealed = body.subarray(21 + keyLength)
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, senderKey])
      const secret = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(senderKey), auth, info, 32))
      const contentKey = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16))
      const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12))
      const decipher = createDecipheriv('aes-128-gcm', contentKey, nonce)
      decipher.setAuthTag(sealed.subarray(-16))
      const record = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
      // Padding: 2 marks the last record, and zeros may follow.
      return record.subarray(0, record.lastIndexOf(2)).toString('utf8')
    },
  }
}

/** The claims of a VAPID header (RFC 8292), or null if its signature is not that of the key in it. */
export function vapidClaims(
  authorization: string,
): { readonly key: string; readonly claims: { aud: string; sub: string; exp: number } } | null {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? []
  const [header = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((each) => each.toString('base64url'))
  const publicKey = createPublicKey({
    key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' },
    format: 'jwk',
  })
  const isGenuine = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  return isGenuine ? { key, claims: JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) } : null
}
