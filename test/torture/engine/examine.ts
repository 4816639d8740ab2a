import { COLUMNS, type EventRow } from '../../../ledger/codec.ts'
import type { AnyEvent } from '../../../ledger/reader.ts'
import type { Postgres } from '../../support/postgres.ts'
import { survey } from '../soundness.ts'
import { type Item, KINDS, type Kind } from './clients.ts'
import { MARK } from './world.ts'

export type Examined = {
  readonly events: number
  readonly epochs: number
  readonly acknowledged: Readonly<Record<Kind, number>>
  readonly lost: number
  readonly gaps: number
  readonly doubled: number
  readonly secondWriters: number
  /** Texts that were being sent when their node was lost, and did not leave for certain. */
  readonly unknown: number
  readonly interrupted: number
  readonly flaws: readonly string[]
}

/** A timer fires this soon after it is due. */
const LATE_MS = 1_000

type Row = EventRow & { readonly epoch: number }

const TYPE = {
  message: 'chat.message.received',
  text: 'sms.received',
  timer: 'timer.set',
  task: 'task.dispatched',
} as const satisfies Record<Kind, AnyEvent['type']>

/** Reads the ledger in PostgreSQL; all of it by default. */
export async function rowsOf(primary: Postgres, afterSeq = 0, limit: number | null = null): Promise<Row[]> {
  const columns = COLUMNS.map((column) => `"${column}"`).join()
  const { rows } = await primary.query(
    `SELECT ${columns}, epoch::int FROM delegate.event WHERE seq > $1 ORDER BY seq LIMIT $2`,
    [afterSeq, limit],
  )
  return rows.map((row) => ({
    ...row,
    seq: Number(row.seq),
    causedBy: row.causedBy === null ? null : Number(row.causedBy),
  }))
}

/** What is wrong, after all, as sentences. Both nodes have stopped. */
export function examine(found: {
  readonly rows: readonly Row[]
  readonly directories: readonly string[]
  readonly items: readonly Item[]
  /** The words of each text that reached a phone. */
  readonly texts: readonly string[]
  /** The task of each program that was started. */
  readonly started: readonly string[]
  /** When everything had ended. */
  readonly atMs: number
}): Examined {
  const { rows, items, texts, started } = found
  const surveys = found.directories.map((directory) => survey(directory))
  const flaws = surveys.flatMap((each) => each.flaws)
  const longest = surveys.reduce((a, b) => (b.head.seq > a.head.seq ? b : a))
  const { events } = longest

  let gaps = 0
  for (const [index, { seq }] of rows.entries()) if (seq !== index + 1) gaps += 1
  if (longest.head.seq !== rows.length)
    flaws.push(`PostgreSQL has ${rows.length} events, and the longer directory ${longest.head.seq}`)
  for (const { events: local, head } of surveys) {
    const last = rows[head.seq - 1]
    if (last?.hash !== head.hash) flaws.push(`a directory with ${local.length} events is no prefix`)
  }

  const lost = lostOf(items, events, flaws)
  const doubled = doubledOf(items, events, texts, started, flaws)
  const secondWriters = secondWritersOf(items, rows, events, flaws)
  flaws.push(...unfinished(events, found.atMs))
  const count = (kind: Kind) => items.filter((item) => item.kind === kind && item.ack !== null).length
  return {
    events: rows.length,
    epochs: new Set(rows.map(({ epoch }) => epoch)).size,
    acknowledged: Object.fromEntries(KINDS.map((kind) => [kind, count(kind)])) as Record<Kind, number>,
    lost,
    gaps,
    doubled,
    secondWriters,
    unknown: events.filter(({ type }) => type === 'delivery.unknown').length,
    interrupted: events.filter((event) => event.type === 'turn.failed' && event.facts.kind === 'interrupted')
      .length,
    flaws,
  }
}

const marksOf = (value: unknown) => JSON.stringify(value ?? '').match(MARK) ?? []

/** The facts that record an item. */
function recordsOf(events: readonly AnyEvent[]): Map<string, AnyEvent[]> {
  const types = new Set<string>(Object.values(TYPE))
  const facts = events.filter(({ type }) => types.has(type))
  return Map.groupBy(facts, (event) => `${event.type} ${marksOf('body' in event ? event.body : '')[0]}`)
}

const keyOf = ({ kind, mark }: Item) => `${TYPE[kind]} ${mark}`

function lostOf(items: readonly Item[], events: readonly AnyEvent[], flaws: string[]): number {
  const records = recordsOf(events)
  const lost = items.filter((item) => item.ack !== null && !records.has(keyOf(item)))
  for (const { kind, mark, ack } of lost)
    flaws.push(`the ${kind} ${mark}, acknowledged by ${ack?.life}, is lost`)
  return lost.length
}

function doubledOf(
  items: readonly Item[],
  events: readonly AnyEvent[],
  texts: readonly string[],
  started: readonly string[],
  flaws: string[],
): number {
  const records = recordsOf(events)
  const twice = <T>(values: readonly T[]) =>
    [...Map.groupBy(values, (value) => value)].flatMap(([value, all]) => (all.length > 1 ? [value] : []))
  const fired = events.flatMap((event) =>
    event.type === 'timer.fired' || event.type === 'timer.missed' ? [event.facts.timerId] : [],
  )
  const ended = events.flatMap((event) =>
    event.type === 'turn.completed' || event.type === 'turn.failed' ? [event.turnId] : [],
  )
  const requested = new Set(
    events.flatMap((event) => (event.type === 'delivery.requested' ? [event.body?.text] : [])),
  )
  const found = [
    ...items
      .filter((item) => (records.get(keyOf(item))?.length ?? 0) > 1)
      .map(({ kind, mark }) => `the ${kind} ${mark} is recorded twice`),
    ...twice(texts.flatMap((text) => marksOf(text))).map((mark) => `the text about ${mark} was sent twice`),
    ...texts
      .filter((text) => !requested.has(text))
      .map((text) => `the text “${text}” was sent without a fact`),
    ...twice(started).map((taskId) => `the program of task ${taskId} was started twice`),
    ...twice(fired).map((timerId) => `the timer ${timerId} fired twice`),
    ...twice(ended).map((turnId) => `the turn ${turnId} ended twice`),
  ]
  flaws.push(...found)
  return found.length
}

/** Facts of an older epoch after one of a newer, epochs of two processes, and acknowledgements out of order. */
function secondWritersOf(
  items: readonly Item[],
  rows: readonly Row[],
  events: readonly AnyEvent[],
  flaws: string[],
): number {
  const found: string[] = []
  for (const [index, { seq, epoch }] of rows.entries())
    if (epoch < (rows[index - 1]?.epoch ?? 0)) found.push(`event ${seq} is of the older epoch ${epoch}`)
  const records = recordsOf(events)
  const lives = new Map<number, string>()
  // One that was repeated may have been recorded by one node and acknowledged by another.
  const sure = items.flatMap(({ attempts, ack, ...item }) => {
    const row = rows[(records.get(keyOf({ ...item, attempts, ack }))?.[0]?.seq ?? 0) - 1]
    return attempts === 1 && ack && row ? [{ ...item, ack, row }] : []
  })
  for (const { mark, ack, row } of sure) {
    const before = lives.get(row.epoch) ?? ack.life
    lives.set(row.epoch, before)
    if (before !== ack.life)
      found.push(`${before} and ${ack.life} both acknowledged in epoch ${row.epoch}: ${mark}`)
  }
  const byAck = sure.toSorted((a, b) => a.ack.atMs - b.ack.atMs)
  let next = 0
  let newest = 0
  for (const item of sure.toSorted((a, b) => a.sentAtMs - b.sentAtMs)) {
    for (; (byAck[next]?.ack.atMs ?? Infinity) < item.sentAtMs; next += 1)
      newest = Math.max(newest, byAck[next]?.row.seq ?? 0)
    if (item.row.seq < newest)
      found.push(`${item.mark} is before event ${newest}, which was acknowledged earlier`)
  }
  flaws.push(...found)
  return found.length
}

/** What has begun and not ended, although it should in a cluster that is sound for a while. */
export function unfinished(events: readonly AnyEvent[], nowMs: number): string[] {
  const idsOf = (types: readonly string[], id: (event: AnyEvent) => unknown) =>
    new Set(events.filter(({ type }) => types.includes(type)).map(id))
  const fact = (name: string) => (event: AnyEvent) =>
    'facts' in event ? (event.facts as Record<string, unknown>)[name] : undefined
  const turn = (event: AnyEvent) => event.turnId
  const due = events.filter(
    (event) => event.type === 'timer.set' && Date.parse(event.facts.dueAt) < nowMs - LATE_MS,
  )
  const missing = (what: string, begun: ReadonlySet<unknown>, ended: ReadonlySet<unknown>) =>
    [...begun.difference(ended)].map((id) => `the ${what} ${id} has no end`)
  const deliveryEnds = ['delivery.succeeded', 'delivery.unknown', 'delivery.failed']
  const taskEnds = ['task.finished', 'task.failed', 'task.cancelled']
  return [
    ...missing(
      'delivery',
      idsOf(['delivery.requested'], fact('deliveryId')),
      new Set(
        events
          .filter((event) => deliveryEnds.includes(event.type) && fact('final')(event) !== false)
          .map(fact('deliveryId')),
      ),
    ),
    ...missing('task', idsOf(['task.dispatched'], fact('taskId')), idsOf(taskEnds, fact('taskId'))),
    ...missing('turn', idsOf(['turn.started'], turn), idsOf(['turn.completed', 'turn.failed'], turn)),
    ...missing(
      'timer',
      new Set(due.map(fact('timerId'))),
      idsOf(['timer.fired', 'timer.missed'], fact('timerId')),
    ),
  ]
}
