import type { EventHeader } from '../../ledger/event.ts'

/** `LEDGER_DEBUG=1`: a line an event with its seq, type, size and the µs that each fold took; never its words. */
export function traceToStderr(event: EventHeader, microsByProjection: ReadonlyMap<string, number>): void {
  process.stderr.write(`${traceLine(event, microsByProjection)}\n`)
}

/** The line of `LEDGER_DEBUG=1` for an event. `bytes` is the JSON size of its facts and body. */
export function traceLine(event: EventHeader, microsByProjection: ReadonlyMap<string, number>): string {
  const type = 'originalType' in event ? event.originalType : event.type
  const content =
    ('facts' in event ? JSON.stringify(event.facts) : '') +
    ('body' in event && event.body ? JSON.stringify(event.body) : '')
  const folds = [...microsByProjection].map(([name, micros]) => `${name}=${Math.round(micros)}µs`).join(' ')
  return `seq=${event.seq} type=${type} bytes=${Buffer.byteLength(content)} ${folds}`
}
