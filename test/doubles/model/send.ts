import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { At, Fault, Reply } from './script.ts'

/** Called when a fault starts that never ends by itself. */
export type OnStall = () => void

/** A named event in its form on the wire. */
export type Frame = { readonly type: string; readonly text: string }

/** Sends a streamed answer, with the fault and the pause of its reply. */
export async function sendStream(
  response: ServerResponse,
  events: readonly Frame[],
  reply: Reply,
  onStall: OnStall,
): Promise<void> {
  const { fault, pause } = reply
  const types = events.map(({ type }) => type)
  const faultIndex = fault ? indexOf(fault, types) : null
  const pauseIndex = pause ? placeOf(pause.at, types) : null
  if (pauseIndex === -1) await pause?.until
  if (fault && faultIndex === -1) return await sendFault(response, fault, onStall)
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  if (!fault && !pause) {
    response.end(events.map(({ text }) => text).join(''))
    return
  }
  for (const [index, event] of events.entries()) {
    if (index === pauseIndex) {
      response.flushHeaders()
      await pause?.until
    }
    const isNamed = event.text.startsWith('event: ')
    if (fault && index === faultIndex) return await sendFault(response, fault, onStall, isNamed)
    response.write(event.text)
  }
  response.end()
}

/** Sends an unstreamed answer, or the fault of its reply. */
export async function sendJson(
  response: ServerResponse,
  body: unknown,
  reply: Reply,
  onStall: OnStall,
): Promise<void> {
  const { fault, pause } = reply
  await pause?.until
  if (fault && indexOf(fault, ['whole']) === -1) return await sendFault(response, fault, onStall)
  response.writeHead(200, { 'content-type': 'application/json' })
  const text = JSON.stringify(body)
  if (!fault) {
    response.end(text)
    return
  }
  if (fault.kind === 'malformed' || fault.kind === 'ends') {
    response.end(text.slice(0, -5))
    return
  }
  if (fault.kind === 'nonsense') {
    response.end('{"surprise":true}')
    return
  }
  response.write(text.slice(0, text.length / 2))
  await sendFault(response, fault, onStall)
}

function indexOf(fault: Fault, types: readonly string[]): number {
  return fault.kind === 'status' ? -1 : placeOf(fault.at, types)
}

/** The index of an event; -1 is before the headers. */
function placeOf(at: At, types: readonly string[]): number {
  if (at === 'headers') return -1
  const index = typeof at === 'number' ? at : types.indexOf(at)
  if (index === -1) throw new RangeError(`the answer has no event ${at}`)
  return Math.min(index, types.length - 1)
}

const CHUNK_BYTES = 64 * 1024

async function sendFault(
  response: ServerResponse,
  fault: Fault,
  onStall: OnStall,
  isNamed = true,
): Promise<void> {
  switch (fault.kind) {
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      response.end(JSON.stringify(fault.body))
      return
    case 'hang':
      if (response.headersSent) await flush(response)
      onStall()
      return
    case 'cut':
      if (response.headersSent) await flush(response)
      response.destroy()
      return
    case 'ends':
      response.end()
      return
    case 'drip':
      onStall()
      while (!response.destroyed) {
        response.write(':')
        await delay(fault.intervalMs, undefined, { ref: false })
      }
      return
    case 'malformed':
      response.end('data: {"type": "response.output_text.del\n\n')
      return
    case 'nonsense':
      response.end('data: {"surprise": true}\n\n')
      return
    case 'error': {
      const { code, message } = fault
      const event = { type: 'error', code, message, param: null, sequence_number: 0 }
      // Chat completions send it without a name and under `error`.
      const body = isNamed ? event : { error: { code, message } }
      response.end(`${isNamed ? 'event: error\n' : ''}data: ${JSON.stringify(body)}\n\n`)
      return
    }
    case 'huge': {
      response.write('data: {"type": "response.output_text.delta", "delta": "')
      const chunk = 'x'.repeat(CHUNK_BYTES)
      for (let sent = 0; sent < fault.bytes && !response.destroyed; sent += CHUNK_BYTES) {
        if (!response.write(chunk)) await drained(response)
      }
      response.end('"}\n\n')
      return
    }
  }
}

function flush(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.write('', () => resolve()))
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}
