import type { Database } from 'better-sqlite3'
import { type AnyEvent, createReader } from '../../ledger/reader.ts'
import { createAdaptationQueries } from '../../projections/adaptations.ts'
import { createRedactionQuery } from '../../projections/erasures.ts'
import { createImportQueries, type ImportedConversationRow } from '../../projections/imports.ts'
import { createMemoryQueries } from '../../projections/memory-queries.ts'
import { SAID } from '../../projections/said.ts'
import { wholeCharacters } from '../../projections/whole-characters.ts'
import { english } from '../../src/language/message.ts'
import { localeNow, msg, translated } from '../../src/language/msg.ts'
import { dateFormat } from '../../src/lib/time.ts'
import { calendarOf } from '../../src/timers/calendar.ts'
import { createTimers } from '../../src/timers/timers.ts'

type File = { readonly name: string; readonly chunks: () => Iterable<string> }

const CHUNK_EVENTS = 200
const CHUNK_ROWS = 200

/** The readable files of an export, in the order in which they are written. */
export function* createTexts(options: {
  readonly ledger: Database
  readonly views: Database
  readonly timezone: string
}): Generator<File> {
  const { views, timezone } = options
  const ledger = createReader(options.ledger)
  const redactionOf = createRedactionQuery(views)
  const timeIn = (at: string) =>
    dateFormat(localeNow(), { dateStyle: 'medium', timeStyle: 'short', timeZone: timezone }).format(
      new Date(at),
    )

  yield* conversations()
  yield* imported()
  yield* notes()
  yield* instructions()
  yield { name: 'memories.md', chunks: memories }
  yield { name: 'reminders.ics', chunks: () => [calendar()] }

  function* conversations(): Generator<File> {
    const types = SAID.map((type) => `'${type}'`).join()
    const months = options.ledger
      .prepare<[], { month: string; firstSeq: number; lastSeq: number }>(
        `SELECT substr(at, 1, 7) AS month, min(seq) AS firstSeq, max(seq) AS lastSeq FROM events
         WHERE type IN (${types}) GROUP BY month ORDER BY month`,
      )
      .all()
    for (const { month, firstSeq, lastSeq } of months)
      yield { name: `conversations/${month}.md`, chunks: () => saidIn(month, firstSeq, lastSeq) }
  }

  function* saidIn(month: string, firstSeq: number, lastSeq: number): Generator<string> {
    const types = new Set<string>(SAID)
    yield `# ${month} (UTC)\n`
    for (let from = firstSeq; from <= lastSeq; from += CHUNK_EVENTS) {
      const range = { firstSeq: from, lastSeq: Math.min(lastSeq, from + CHUNK_EVENTS - 1) }
      yield ledger
        .readOfTypes(types, range)
        .filter(({ at }) => at.startsWith(month))
        .map(saidText)
        .join('')
    }
  }

  function saidText(event: AnyEvent): string {
    const text = wordsOf(event)
    if (text === null) return ''
    const speaker =
      event.actor === 'delegate' ? 'Delegate' : event.actor === 'owner' ? msg`You` : msg`Somebody else`
    return `\n**${speaker}**, ${timeIn(event.at)}${translated(WAYS[event.channel ?? ''] ?? '')}\n\n${text}\n`
  }

  /** Of a redacted reply, the words that are left. */
  function wordsOf(event: AnyEvent): string | null {
    const [shown] = event.erased ? ledger.readSeqs([redactionOf(event.seq) ?? 0]) : [event]
    return shown && 'body' in shown && shown.body && 'text' in shown.body ? shown.body.text : null
  }

  function* imported(): Generator<File> {
    const queries = createImportQueries(views)
    let after: { lastAt: string; id: string } | null = null
    for (;;) {
      const rows: ImportedConversationRow[] = queries.page(CHUNK_ROWS, after)
      for (const { id, firstAt } of rows)
        yield { name: `imported/${firstAt.slice(0, 10)}-${id}.md`, chunks: () => importedText(id) }
      after = rows.at(-1) ?? null
      if (after === null) return
    }
  }

  function* importedText(id: string): Generator<string> {
    let isFirst = true
    for (const { seq } of createImportQueries(views).parts(id)) {
      const [part] = ledger.readSeqs([seq])
      if (part?.type !== 'import.conversation.added' || !part.body) continue
      if (isFirst) yield `# ${part.body.title || msg`Untitled`}\n`
      isFirst = false
      for (const { speaker, at, text } of part.body.messages)
        yield `\n**${speaker === 'owner' ? msg`You` : msg`Assistant`}**, ${timeIn(at)}\n\n${text}\n`
    }
  }

  function* notes(): Generator<File> {
    const rows = views
      .prepare<[], { noteId: string; titleSeq: number; contentSeq: number }>(
        'SELECT noteId, titleSeq, contentSeq FROM notes WHERE erased = 0 AND deletedAt IS NULL ORDER BY updatedSeq',
      )
      .iterate()
    for (const { noteId, titleSeq, contentSeq } of [...rows]) {
      const fieldAt = (seq: number, field: 'title' | 'content') => {
        const [event] = ledger.readSeqs([seq])
        return event?.type === 'note.created' || event?.type === 'note.updated'
          ? (event.body?.[field] ?? '')
          : ''
      }
      yield {
        name: `notes/${nameFrom(fieldAt(titleSeq, 'title'), noteId)}.md`,
        chunks: () => [`# ${fieldAt(titleSeq, 'title')}\n\n${fieldAt(contentSeq, 'content')}\n`],
      }
    }
  }

  function* instructions(): Generator<File> {
    for (const { adaptationId, savedSeq } of createAdaptationQueries(views).all()) {
      const [saved] = ledger.readSeqs([savedSeq])
      if (saved?.type !== 'adaptation.saved' || !saved.body) continue
      const { title, content } = saved.body
      yield {
        name: `instructions/${nameFrom(title, adaptationId)}.md`,
        chunks: () => [`# ${title}\n\n${content}\n`],
      }
    }
  }

  function* memories(): Generator<string> {
    const queries = createMemoryQueries(views)
    yield `# ${msg`Memories`}\n\n`
    let beforeSeq = Number.MAX_SAFE_INTEGER
    for (;;) {
      const rows = queries.current(beforeSeq, CHUNK_ROWS)
      yield rows
        .map(({ text, kind, validFrom }) => `- ${text} (${translated(kind)}, ${timeIn(validFrom)})\n`)
        .join('')
      const last = rows.at(-1)
      if (!last) return
      beforeSeq = last.storedSeq
    }
  }

  function calendar(): string {
    const never = () => {
      throw new Error('an export changes nothing')
    }
    const nowMs = Date.now
    const timers = createTimers({
      storage: { append: never, ledger, views, onHeadMoved: () => () => undefined },
      placement: { appendToConversation: never },
      timezone: () => timezone,
      nowMs,
      newId: never,
      onFault: never,
    })
    return calendarOf(timers, nowMs())
  }
}

const WAYS: Readonly<Record<string, string>> = {
  voice: english`, by phone`,
  sms: english`, by text`,
}

/** A file name that every system accepts. The id keeps it unique. */
function nameFrom(title: string, id: string): string {
  const words = title.normalize('NFC').match(/[\p{L}\p{N}]+/gu) ?? []
  const parts = [wholeCharacters(words.join('-').slice(0, 60)), id.replace(/[^\w-]/g, '_')]
  return parts.filter((part) => part !== '').join('-')
}
