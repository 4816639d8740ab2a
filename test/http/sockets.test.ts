import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { clientFrame, fragmentStorm } from '../torture/sockets.ts'
import { raw } from './client.ts'
import { type Service, startService } from './harness.ts'
import { openSocket } from './web-socket.ts'

/** The origin of the Host below. */
const ORIGIN = 'http://delegate.example'
const KEY = randomBytes(16).toString('base64')

/** A handshake as a client sends it. */
function handshake(target: string, headers: Record<string, string> = {}, method = 'GET'): string {
  const all = {
    Host: 'delegate.example',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': KEY,
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** Sends bytes and resets the connection at once. */
function sendAndReset(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => socket.resetAndDestroy()))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
}

/** Resolves to the start of what a peer receives. */
function opens(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('error', reject)
    socket.on('data', (data) => {
      resolve(data.toString('latin1'))
      socket.destroy()
    })
  })
}

/** Opens a socket, sends bytes and resolves to the code of the close frame. */
function closeCodeOf(port: number, path: string, frames: Buffer, headers = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(handshake(path, headers)))
    let received = Buffer.alloc(0)
    let isOpen = false
    socket.on('data', (data) => {
      received = Buffer.concat([received, data])
      const end = received.indexOf('\r\n\r\n')
      if (!isOpen && end >= 0) {
        isOpen = true
        received = received.subarray(end + 4)
        socket.write(frames)
      }
      if (!isOpen || received[0] !== 0x88 || received.length < 4) return
      resolve(received.readUInt16BE(2))
      socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('closed without a close frame')))
  })
}

async function expectAlive(service: Service): Promise<void> {
  const socket = await openSocket(service, null, { path: '/call', origin: null })
  expect(await socket.ask('hello')).toBe('heard hello')
}

test('refuses an upgrade of a malformed address, and of every other than a socket', async () => {
  const service = await startService()
  const refusals = {
    400: [
      '//',
      '//elsewhere.example/call',
      '/\\',
      '/\\elsewhere.example',
      'http://[',
      'http://a:b@127.0.0.1/call',
      'http://127.0.0.1/call',
      '*',
      '/ÿ',
    ],
    401: ['/%', '/%ff', '/call/', '/CALL', '/', '/health', '/api/config', '/nowhere'],
    404: ['/.git', '/%2egit'],
  }
  for (const [status, targets] of Object.entries(refusals)) {
    for (const target of targets) {
      const answer = await raw(service.port, handshake(target))
      expect([target, answer.status]).toEqual([target, Number(status)])
    }
  }
  const owner = { Cookie: (await service.signedIn()).cookie() ?? '', Origin: ORIGIN }
  for (const target of ['/', '/health', '/api/config', '/api/logs/stream', '/login', '/nowhere']) {
    expect([target, (await raw(service.port, handshake(target, owner))).status]).toEqual([target, 404])
  }
  await expectAlive(service)
})

test('refuses a malformed handshake with 400 and a problem document', async () => {
  const service = await startService()
  for (const bytes of [
    handshake('/call', {}, 'POST'),
    handshake('/call', { 'Sec-WebSocket-Key': 'abc' }),
    handshake('/call', { 'Sec-WebSocket-Key': `${'?'.repeat(22)}==` }),
    handshake('/call', { 'Sec-WebSocket-Version': '7' }),
  ]) {
    const { status, text } = await raw(service.port, bytes)
    expect([status, text]).toEqual([400, expect.stringContaining('"code":"malformed_request"')])
  }
  await expectAlive(service)
})

test('selects no subprotocol, however the peer writes its list', async () => {
  const service = await startService()
  for (const list of ['audio', 'audio, audio', ',;']) {
    const opened = await opens(service.port, handshake('/call', { 'Sec-WebSocket-Protocol': list }))
    expect(opened).toMatch(/^HTTP\/1\.1 101 /)
    expect(opened).not.toMatch(/sec-websocket-protocol/i)
  }
})

test('closes a socket that cannot be served with 1011, and reports the fault', async () => {
  const service = await startService()
  expect(await closeCodeOf(service.port, '/call?fault', Buffer.alloc(0))).toBe(1011)
  expect(service.written.join()).toContain('the canary sank')
})

test('closes a refused upgrade even if its peer keeps its side open', async () => {
  const service = await startService()
  const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true })
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.on('error', () => undefined)
  socket.write(handshake('/nowhere'))
  await new Promise((resolve) => socket.resume().on('end', resolve))
  await expect
    .poll(() => {
      socket.write('x')
      return socket.destroyed
    })
    .toBe(true)
  await closed
})

test('survives connections that are reset during the handshake', async () => {
  const service = await startService()
  const resets = Array.from({ length: 200 }, (_, index) =>
    sendAndReset(service.port, handshake(index % 2 === 0 ? '/call' : '/nowhere')),
  )
  await Promise.all(resets)
  await expectAlive(service)
})

test('keeps nothing of 10,000 refused handshakes', { tags: ['long'] }, async () => {
  const service = await startService()
  const collectGarbage = garbageCollector()
  async function addedMiB(count: number, bytes: string): Promise<number> {
    const peer = async (requests: number) => {
      for (let index = 0; index < requests; index += 1) await raw(service.port, bytes)
    }
    const send = (requests: number) =>
      Promise.all(Array.from({ length: 20 }, () => peer(Math.ceil(requests / 20))))
    await send(count / 20)
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    await send(count)
    collectGarbage()
    return (process.memoryUsage().heapUsed - before) / 1024 / 1024
  }
  const padding = { 'X-Padding': 'x'.repeat(2_000) }
  const badKey = handshake('/call', { 'Sec-WebSocket-Key': 'bad', ...padding })
  // The response to the first request closes the connection.
  const behindAnother = `GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${handshake('/call', padding)}`
  expect(await addedMiB(10_000, badKey)).toBeLessThan(4)
  expect(await addedMiB(2_000, behindAnother)).toBeLessThan(4)
  await expectAlive(service)
})

test('limits messages and fragments by route', async () => {
  const service = await startService()
  const { port } = service
  const owner = { Cookie: (await service.signedIn()).cookie() ?? '', Origin: ORIGIN }
  const text = (bytes: number) => clientFrame({ opcode: 1, isFinal: true, payload: Buffer.alloc(bytes, 'x') })
  const split = (bytes: number) =>
    Buffer.concat([
      clientFrame({ opcode: 1, isFinal: false, payload: Buffer.alloc(bytes / 2, 'x') }),
      clientFrame({ opcode: 0, isFinal: true, payload: Buffer.alloc(bytes / 2, 'x') }),
    ])
  const close = clientFrame({ opcode: 8, isFinal: true, payload: Buffer.from([0x03, 0xe8]) })
  const codes = async (path: string, bytes: number, headers = {}) => [
    await closeCodeOf(port, path, Buffer.concat([text(bytes + 2)]), headers),
    await closeCodeOf(port, path, Buffer.concat([split(bytes + 2)]), headers),
    await closeCodeOf(port, path, fragmentStorm(300), headers),
    await closeCodeOf(port, path, close, headers),
  ]
  // At once, because each socket must get the limit of its own route.
  const [call, chat] = await Promise.all([codes('/call', 1024), codes('/chat', 2048, owner)])
  expect(call).toEqual([1009, 1009, 1008, 1000])
  expect(chat).toEqual([1009, 1009, 1008, 1000])
  expect(service.socketMessages).toEqual([])
  for (const [path, bytes, headers] of [
    ['/call', 1024, {}],
    ['/chat', 2048, owner],
  ] as const) {
    const received = Buffer.concat([text(bytes), split(bytes)])
    const heard = service.socketMessages.length
    closeCodeOf(port, path, received, headers).catch(() => undefined)
    await expect.poll(() => service.socketMessages.length).toBe(heard + 2)
  }
})

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
