import { join } from 'node:path'
import Database from 'better-sqlite3'
import { chainHash, createSalts, GENESIS_HASH, toDraft } from '../../ledger/codec.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { createIds } from '../../ledger/ids.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { median, quantile, round, timed, timedAsync } from './statistics.ts'
import { timelineEvents } from './timeline.ts'

const newId = createIds(Date.now)
const newSalt = createSalts()
const drafted = (event: NewEvent) => toDraft(event, { newId, newSalt, at: new Date().toISOString() })

/** One prepared INSERT a transaction into a bare table, as durable as the ledger: the floor that appends stand on. */
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

/**
 * Appends an event at a time, the three ways by turns of 50, so that whatever else the machine does falls on all of
 * them. Microseconds; medians of the runs, ratios within each.
 */
export async function benchAppend(directory: string, { runs = 9, appends = 300 } = {}) {
  const raw = openRaw(directory)
  const ledger = openLedger(join(directory, 'core'), newId)
  const storage = await openStorage({
    directory: join(directory, 'whole'),
    nowMs: Date.now,
    newId,
    onWarning: (message) => {
      throw new Error(message)
    },
    onFatal: (error) => {
      throw error
    },
  })
  const events = timelineEvents(Number.POSITIVE_INFINITY)
  const next = (): NewEvent => {
    const event = events.next().value
    if (!event) throw new Error('the events ended')
    return event
  }
  const take = (count: number) => Array.from({ length: count }, next)
  const p50s = { raw: [] as number[], core: [] as number[], whole: [] as number[] }
  const p99s = { raw: [] as number[], core: [] as number[], whole: [] as number[] }
  const concurrent: number[] = []
  for (let run = -1; run < runs; run += 1) {
    const samples = { raw: [] as number[], core: [] as number[], whole: [] as number[] }
    for (let block = 0; block < appends; block += BLOCK_APPENDS) {
      for (const row of take(BLOCK_APPENDS).map(raw.rowOf)) samples.raw.push(timed(() => raw.insert(row)))
      for (const event of take(BLOCK_APPENDS))
        samples.core.push(timed(() => ledger.commit([[drafted(event)]])))
      for (const event of take(BLOCK_APPENDS))
        samples.whole.push(await timedAsync(() => storage.append([event])))
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
    for (const way of ['raw', 'core', 'whole'] as const) {
      p50s[way].push(quantile(samples[way], 0.5) * 1000)
      p99s[way].push(quantile(samples[way], 0.99) * 1000)
    }
    concurrent.push((appends / elapsedMs) * 1000)
  }
  await storage.close()
  ledger.close()
  raw.close()
  const ratios = (way: 'core' | 'whole') =>
    round(median(p50s[way].map((p50, run) => p50 / (p50s.raw[run] ?? Number.NaN))))
  return {
    rawP50Us: round(median(p50s.raw)),
    rawP99Us: round(median(p99s.raw)),
    coreP50Us: round(median(p50s.core)),
    coreP99Us: round(median(p99s.core)),
    coreToRaw: ratios('core'),
    wholeP50Us: round(median(p50s.whole)),
    wholeP99Us: round(median(p99s.whole)),
    wholeToRaw: ratios('whole'),
    concurrent16PerSecond: round(median(concurrent)),
  }
}
