import type { Registry } from 'prom-client'
import type { AnyEvent } from '../../ledger/reader.ts'
import { createNotificationQueries } from '../../projections/notifications.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import type { Storage } from '../storage/storage.ts'

/** Facts that end a turn or an attempt to deliver. */
const TYPES: ReadonlySet<string> = new Set([
  'turn.completed',
  'turn.failed',
  'delivery.succeeded',
  'delivery.failed',
  'delivery.unknown',
])
/** Events that one scrape looks at, so that the first one after a long pause holds nothing up. */
const MAX_EVENTS = 2_000
const TURN_SECONDS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** Adds counters of facts. Returns a function that counts the facts since its last call, at first since now. */
export function addTallies(
  { Counter, Histogram }: typeof import('prom-client'),
  register: Registry,
  { ledger, views }: Pick<Storage, 'ledger' | 'views'>,
): () => void {
  const registers = [register]
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `delegate_${name}`, help, labelNames, registers })
  const turns = counter('turns_total', 'Turns that ended, by channel and outcome', 'channel', 'outcome')
  const seconds = new Histogram({
    name: 'delegate_turn_seconds',
    help: 'Time from a message to the end of its turn, of turns that completed',
    labelNames: ['channel'],
    buckets: TURN_SECONDS,
    registers,
  })
  const deliveries = counter(
    'deliveries_total',
    'Attempts to deliver, by channel and outcome; retry: failed and will be retried',
    'channel',
    'outcome',
  )
  const notifications = counter('notifications_total', 'Notifications for the owner, by kind', 'kind')
  const { byId } = createTurnQueries(views)
  const { kindsIn } = createNotificationQueries(views)
  let seq = ledger.head().seq

  function count(event: AnyEvent): void {
    const channel = event.channel ?? 'system'
    switch (event.type) {
      case 'turn.failed':
        turns.inc({ channel, outcome: event.facts.kind })
        break
      case 'turn.completed': {
        turns.inc({ channel, outcome: 'completed' })
        const received = event.turnId === null ? undefined : byId(event.turnId)?.receivedAt
        const ms = received === undefined ? null : Date.parse(event.at) - Date.parse(received)
        if (ms !== null) seconds.observe({ channel }, Math.max(0, ms) / 1000)
        break
      }
      case 'delivery.succeeded':
        deliveries.inc({ channel: event.facts.channel, outcome: 'delivered' })
        break
      case 'delivery.failed':
        deliveries.inc({ channel: event.facts.channel, outcome: event.facts.final ? 'failed' : 'retry' })
        break
      case 'delivery.unknown':
        deliveries.inc({ channel: event.facts.channel, outcome: 'unknown' })
    }
  }

  return () => {
    const range = { firstSeq: seq + 1, lastSeq: Math.min(ledger.head().seq, seq + MAX_EVENTS) }
    // First, so that what cannot be read is not counted twice.
    seq = range.lastSeq
    for (const event of ledger.readOfTypes(TYPES, range)) count(event)
    for (const kind of kindsIn(range)) notifications.inc({ kind })
  }
}
