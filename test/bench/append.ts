import { join } from 'node:path'
import Database from 'better-sqlite3'
import { chainHash, GENESIS_HASH, newSalt, toDraft } from '../../ledger/codec.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { createIds } from '../../ledger/ids.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { openWriter } from '../../src/storage/writer.ts'
import { median, quantile, round, timed, timedAsync } from './statistics.ts'
import { timelineEvents } from './timeline.ts'

const newId = createIds(Date.now)
const drafted = (event: NewEvent) => toDraft(event, { newId, newSalt, at: new Date().toISOString() })

/** The floor for appends: one prepared INSERT per transaction into a bare table, as durable as the ledger. */
function openRaw(directory: string) {
  const db = new Database(join(directory, 'raw.sqlite'))
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec(`CREATE TABLE events (seq INTEGER PRIMARY KEY, id TEXT, key TEXT, type TEXT, version INTEGER, at TEXT,
    conversationId TEXT, spanId TEXT, turnId TEXT, causedBy INTEGER, derivedFrom TEXT, channel TEXT, actor TEXT,
    facts TEXT, body TEXT, salt TEXT, bodyDigest TEXT, hash TEXT) STRICT`)
  const insert =
    db.prepare(`INSERT INTO events VALUES (@seq, @id, @key, @type, @version, @at, @conversationId, @spanId,
    @turnId, @causedBy, @derivedFrom, @channel, @actor, @facts, @body, @salt, @bodyDigest, @hash)`)
  let seq = 0
  return {
    rowOf(event: NewEvent) {
      seq += 1
      const draft = drafted(event)
      return { seq, ...draft, hash: chainHash(GENESIS_HASH, seq, draft) }
    },
    insert: (row: Record<string, unknown>) => void insert.run(row),
    close: () => db.close(),
  }
}

const CONCURRENT = 16
const BLOCK_APPENDS = 50

/** A bare table, the ledger, the ledger with all views, and the same in its thread as in the service. */
const WAYS = ['raw', 'core', 'views', 'thread'] as const
type Way = (typeof WAYS)[number]
const samplesOf = (): Record<Way, number[]> => ({ raw: [], core: [], views: [], thread: [] })

/**
 * Appends one event at a time, alternating between the ways in blocks of 50, so that other load affects all
 * of them. Reports microseconds: medians of the runs, and ratios within each run.
 */
export async function benchAppend(directory: string, { runs = 9, appends = 300 } = {}) {
  const raw = openRaw(directory)
  const ledger = openLedger(join(directory, 'core'), newId)
  const onWarning = (message: string) => {
    throw new Error(message)
  }
  const writer = openWriter({ directory: join(directory, 'views'), newId, warn: onWarning })
  const storage = await openStorage({
    directory: join(directory, 'thread'),
    nowMs: Date.now,
    newId,
    onWarning,
    onFatal: (error) => {
      throw error
    },
  })
  const events = timelineEvents(Number.POSITIVE_INFINITY)
  const next = (): NewEvent => {
    const event = events.next().value
    if (!event) throw new Error('no events left')
    return event
  }
  const take = (count: number) => Array.from({ length: count }, next)
  const p50s = samplesOf()
  const p99s = samplesOf()
  const concurrent: number[] = []
  for (let run = -1; run < runs; run += 1) {
    const samples = samplesOf()
    for (let block = 0; block < appends; block += BLOCK_APPENDS) {
      for (const row of take(BLOCK_APPENDS).map(raw.rowOf)) samples.raw.push(timed(() => raw.insert(row)))
      for (const event of take(BLOCK_APPENDS))
        samples.core.push(timed(() => ledger.commit([[drafted(event)]])))
      for (const event of take(BLOCK_APPENDS))
        samples.views.push(timed(() => writer.commit([[drafted(event)]])))
      for (const event of take(BLOCK_APPENDS))
        samples.thread.push(await timedAsync(() => storage.append([event])))
    }
    const elapsedMs = await timedAsync(() =>
      Promise.all(
        Array.from({ length: CONCURRENT }, async () => {
          for (let index = 0; index < appends / CONCURRENT; index += 1) await storage.append([next()])
        }),
      ),
    )
    // The first run warms up.
    if (run < 0) continue
    for (const way of WAYS) {
      p50s[way].push(quantile(samples[way], 0.5) * 1000)
      p99s[way].push(quantile(samples[way], 0.99) * 1000)
    }
    concurrent.push((appends / elapsedMs) * 1000)
  }
  await storage.close()
  writer.close()
  ledger.close()
  raw.close()
  const figuresOf = (way: Way) => ({
    p50Us: round(median(p50s[way])),
    p99Us: round(median(p99s[way])),
    toRaw: round(median(p50s[way].map((p50, run) => p50 / (p50s.raw[run] ?? Number.NaN)))),
  })
  return {
    ...Object.fromEntries(WAYS.map((way) => [way, figuresOf(way)])),
    concurrent16PerSecond: round(median(concurrent)),
  }
}
