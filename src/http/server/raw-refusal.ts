import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { PROBLEM_TYPE } from '../contract/problem.ts'
import { problemOf, type Refusal } from './problem.ts'
import { securityHeaders } from './security-headers.ts'

/** Writes a refusal to a raw connection and closes it. */
export function writeRefusal(socket: Duplex, refusal: Refusal, requestId: string): void {
  const content = JSON.stringify(problemOf(refusal))
  const headers = {
    ...securityHeaders(requestId, false),
    ...refusal.headers,
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(content),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
  const head = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`, ...lines].join('\r\n')
  socket.end(`${head}\r\n\r\n${content}`, () => socket.destroy())
}
