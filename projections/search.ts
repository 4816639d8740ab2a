import type { Database } from 'better-sqlite3'
import type { Channel, EventOf, LedgerEvent } from '../ledger/event.ts'
import type { EventType } from '../ledger/events/catalogue.ts'
import { defineProjection } from './projection.ts'
import { type Found, foundColumns, snippetOf } from './search-snippet.ts'
import { fromIndexed, toIndexed, toMatch, toPattern } from './search-text.ts'
import { wholeCharacters } from './whole-characters.ts'

/**
 * Full-text search over messages, calls, notes and other written text. Lagging, because segment merges would
 * double the cost of an append.
 *
 * The channel is indexed too: filtering 300,000 matches by a rare channel took half a second. `search_days`
 * (UTC) maps a period to a range of seqs even if clocks jumped.
 */
export const searchProjection = defineProjection({
  name: 'search',
  version: 5,
  tables: ['search_index', 'search_days'],
  lagging: true,
  schema: `
    DROP TABLE IF EXISTS search_documents;
    CREATE TABLE search_days (day TEXT PRIMARY KEY, firstSeq INTEGER NOT NULL, lastSeq INTEGER NOT NULL)
      WITHOUT ROWID, STRICT;
    CREATE VIRTUAL TABLE search_index USING fts5(channel, at UNINDEXED, text, columnsize=0,
      tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
    INSERT INTO search_index(search_index, rank) VALUES ('secure-delete', 1);`,
  fold(db) {
    const insert = db.prepare('INSERT INTO search_index(rowid, channel, at, text) VALUES (?, ?, ?, ?)')
    const remove = db.prepare('DELETE FROM search_index WHERE rowid = ?')
    const extendDay = db.prepare(
      'INSERT INTO search_days VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET lastSeq = excluded.lastSeq',
    )

    function index({ seq, at, channel }: LedgerEvent, ...parts: readonly (string | undefined)[]): void {
      // Days are kept for erased events too.
      extendDay.run(dayOf(at), seq, seq)
      const text = toIndexed(parts.filter((part) => part !== undefined && part !== '').join('\n'))
      if (text !== '') insert.run(seq, channel, at, text)
    }

    /** For types whose body has a `text`. */
    const indexText = <T extends EventType>(
      event: EventOf<T> & LedgerEvent & { readonly body: { readonly text: string } | null },
    ) => index(event, event.body?.text)
    return {
      handlers: {
        'chat.message.received': indexText,
        'chat.reply.sent': indexText,
        'chat.reply.stopped': indexText,
        'sms.received': indexText,
        'sms.ignored': indexText,
        'sms.sent': indexText,
        'sms.failed': indexText,
        'proposal.made': indexText,
        'call.utterance.heard': indexText,
        'call.reply.spoken': indexText,
        'memory.stored': indexText,
        'task.finished': indexText,
        'task.failed': indexText,
        'note.created': (event) => index(event, event.body?.title, event.body?.content),
        'note.updated': (event) => index(event, event.body?.title, event.body?.content),
        'timer.set': (event) => index(event, event.body?.title),
        'timer.changed': (event) => index(event, event.body?.title),
        'timer.fired': indexText,
        'task.dispatched': (event) => index(event, event.body?.title, event.body?.prompt),
        erased: ({ facts }) => {
          for (const seq of facts.seqs) remove.run(seq)
        },
      },
    }
  },
})

function dayOf(at: string): string {
  return at.slice(0, 10)
}

export type SearchHit = { readonly seq: number; readonly snippet: string }

/** Removes the marks around matches. */
export function withoutMarks(snippet: string): string {
  return snippet.replaceAll('\u0002', '').replaceAll('\u0003', '')
}

/** Narrows a search. Null means no bound. */
export type SearchFilters = {
  readonly channel: Channel | null
  /** Inclusive; ISO 8601 UTC with milliseconds. */
  readonly fromAt: string | null
  /** Exclusive; same format. */
  readonly untilAt: string | null
}

export type TimelineSearch = {
  /** Null for the newest documents, without a search. */
  readonly query: string | null
  readonly limit: number
  readonly beforeSeq: number | null
  readonly filters?: SearchFilters | undefined
}

/** Without a query, a snippet is the beginning of the text. */
const BEGINNING_CHARS = 300

/**
 * Events before `beforeSeq` that match the query and the filters, newest first: ranking 200,000 matches would
 * take 100 ms. Matches in a snippet are enclosed in U+0002 and U+0003, which no text contains.
 */
export function searchTimeline(views: Database, options: TimelineSearch): SearchHit[] {
  const { query, limit, beforeSeq } = options
  const { channel = null, fromAt = null, untilAt = null } = options.filters ?? {}
  const words = query === null ? null : toMatch(query)
  if (query !== null && words === null) return []
  const isPeriod = fromAt !== null || untilAt !== null
  const period = [fromAt ?? '', untilAt ?? AFTER_ALL_TIME] as const
  const bounds = isPeriod
    ? seqsWithin(views, ...period)
    : { firstSeq: 0, lastSeq: Number.MAX_SAFE_INTEGER - 1 }
  if (bounds === null) return []
  const untilSeq = Math.min(bounds.lastSeq + 1, beforeSeq ?? Number.MAX_SAFE_INTEGER)
  if (words === null) return newestOf(views, { firstSeq: bounds.firstSeq, untilSeq, period, channel, limit })
  const match = channel === null ? words : `${words} AND channel : "${channel}"`
  const found = views
    .prepare<(string | number)[], Found & { readonly seq: number }>(
      `SELECT rowid AS seq, ${foundColumns('search_index', 2)}
       FROM search_index WHERE search_index MATCH ? AND rowid >= ? AND rowid < ?
         ${isPeriod ? WITHIN : ''} ORDER BY rowid DESC LIMIT ?`,
    )
    .iterate(match, bounds.firstSeq, untilSeq, ...(isPeriod ? period : []), limit)
  const pattern = toPattern(query ?? '')
  // Iterates, so that only one long text is in memory at a time.
  return Array.from(found, (hit) => ({ seq: hit.seq, snippet: snippetOf(hit, pattern) }))
}

function newestOf(
  views: Database,
  within: {
    readonly firstSeq: number
    readonly untilSeq: number
    readonly period: readonly [string, string]
    readonly channel: Channel | null
    readonly limit: number
  },
): SearchHit[] {
  const { firstSeq, untilSeq, period, channel, limit } = within
  const match = channel === null ? [] : [`channel : "${channel}"`]
  return views
    .prepare<(string | number)[], { seq: number; text: string }>(
      `SELECT rowid AS seq, substr(text, 1, ${BEGINNING_CHARS + 1}) AS text FROM search_index
       WHERE rowid >= ? AND rowid < ? ${WITHIN} ${channel === null ? '' : 'AND search_index MATCH ?'}
       ORDER BY rowid DESC LIMIT ?`,
    )
    .all(firstSeq, untilSeq, ...period, ...match, limit)
    .map(({ seq, text }) => {
      const beginning = fromIndexed(wholeCharacters(text.slice(0, BEGINNING_CHARS)))
      return { seq, snippet: text.length > BEGINNING_CHARS ? `${beginning}…` : beginning }
    })
}

/** After a clock change, the range of seqs includes other days, so each hit's own time decides. */
const WITHIN = 'AND at >= ? AND at < ?'
/** Sorts after every ISO 8601 time. */
const AFTER_ALL_TIME = '~'

/** The range of seqs that contains all documents of a period; null if there are none. */
function seqsWithin(
  views: Database,
  fromAt: string,
  untilAt: string,
): { readonly firstSeq: number; readonly lastSeq: number } | null {
  const { firstSeq, lastSeq } = views
    .prepare<[string, string], { firstSeq: number | null; lastSeq: number | null }>(
      'SELECT min(firstSeq) AS firstSeq, max(lastSeq) AS lastSeq FROM search_days WHERE day >= ? AND day <= ?',
    )
    .get(dayOf(fromAt), dayOf(untilAt)) ?? { firstSeq: null, lastSeq: null }
  return firstSeq === null || lastSeq === null ? null : { firstSeq, lastSeq }
}
