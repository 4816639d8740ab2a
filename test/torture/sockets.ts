import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** The result of a flood: how many sockets reached `/call`, and the most that were open at once. */
export type Flood = { readonly opened: number; readonly closed: number; readonly mostOpen: number }

const UPGRADED = /^HTTP\/1\.1 101 /

/**
 * Opens sockets to `/call` that never start a stream and ignore the closing handshake, which a library would
 * complete. Resolves once the service has closed them all.
 */
export async function floodCallSocket(options: {
  readonly port: number
  readonly count: number
  readonly atOnce: number
  /** Sent once open: nothing, or useless frames. */
  readonly says?: Buffer
}): Promise<Flood> {
  let started = 0
  let opened = 0
  let closed = 0
  let open = 0
  let mostOpen = 0
  const over = Promise.withResolvers<void>()

  function next(): void {
    if (started === options.count) {
      if (closed === options.count) over.resolve()
      return
    }
    started += 1
    begin()
  }
  function begin(): void {
    const socket: Socket = connect(options.port, '127.0.0.1')
    let isOpen = false
    socket.on('connect', () =>
      socket.write(
        `GET /call HTTP/1.1\r\nHost: delegate.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
      ),
    )
    socket.on('data', (data) => {
      if (isOpen || !UPGRADED.test(data.toString('latin1'))) return
      isOpen = true
      opened += 1
      open += 1
      mostOpen = Math.max(mostOpen, open)
      if (options.says) socket.write(options.says)
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      if (isOpen) open -= 1
      closed += 1
      next()
    })
  }
  for (let index = 0; index < Math.min(options.atOnce, options.count); index += 1) next()
  await over.promise
  return { opened, closed, mostOpen }
}

/** A WebSocket frame of a client. It is masked with zeros, which leave the payload unchanged. */
export function clientFrame(options: {
  readonly opcode: number
  readonly isFinal: boolean
  readonly payload: Buffer
}): Buffer {
  const { opcode, isFinal, payload } = options
  const { length } = payload
  const head =
    length < 126
      ? Buffer.from([0, 0x80 | length])
      : length < 65_536
        ? Buffer.from([0, 0x80 | 126, length >> 8, length & 0xff])
        : Buffer.from([
            0,
            0x80 | 127,
            0,
            0,
            0,
            0,
            length >>> 24,
            (length >> 16) & 0xff,
            (length >> 8) & 0xff,
            length & 0xff,
          ])
  head[0] = (isFinal ? 0x80 : 0) | opcode
  return Buffer.concat([head, Buffer.alloc(4), payload])
}

/** A message in `count` fragments of one byte that never ends. */
export function fragmentStorm(count: number): Buffer {
  const byte = Buffer.from('x')
  const first = clientFrame({ opcode: 1, isFinal: false, payload: byte })
  const more = clientFrame({ opcode: 0, isFinal: false, payload: byte })
  return Buffer.concat([first, ...Array.from({ length: count - 1 }, () => more)])
}

/** Resident memory of a process in mebibytes; NaN on systems other than Linux. */
export function residentMiB(pid: number): number {
  try {
    const kiB = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB$/m)?.[1]
    return Math.round(Number(kiB) / 1024)
  } catch {
    return Number.NaN
  }
}
