import type { AnyEvent } from '../../ledger/reader.ts'

/** `LEDGER_DEBUG=1`: writes one line per event, without its content. */
export function traceToStderr(event: AnyEvent, microsByProjection: ReadonlyMap<string, number>): void {
  process.stderr.write(`${traceLine(event, microsByProjection)}\n`)
}

/** An event's seq, type, JSON size of facts and body in bytes, and the time of each fold. */
export function traceLine(event: AnyEvent, microsByProjection: ReadonlyMap<string, number>): string {
  const type = 'originalType' in event ? event.originalType : event.type
  const content =
    ('facts' in event ? JSON.stringify(event.facts) : '') +
    ('body' in event && event.body ? JSON.stringify(event.body) : '')
  const folds = [...microsByProjection].map(([name, micros]) => `${name}=${Math.round(micros)}µs`).join(' ')
  return `seq=${event.seq} type=${type} bytes=${Buffer.byteLength(content)} ${folds}`
}
