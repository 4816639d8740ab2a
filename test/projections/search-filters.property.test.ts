import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newSalt, toDraft } from '../../ledger/codec.ts'
import { type Channel, channelSchema } from '../../ledger/event.ts'
import { type SearchFilters, searchProjection, searchTimeline } from '../../projections/search.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
import { newId, openTestWriter, said } from '../support/writer.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2030, 0, 10)
// Includes names of channels, which a search must treat as words.
const WORDS = ['tea', 'milk', 'teapot', 'chat', 'sms'] as const

const aMoment = fc.integer({ min: -20 * 24, max: 20 * 24 }).map((hours) => START_MS + hours * HOUR_MS)
const aChannel = fc.constantFrom<(Channel | null)[]>(null, ...channelSchema.options)

const someFacts = fc.array(
  fc.record({
    words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }),
    channel: aChannel,
    /** The clock step before the fact; it may jump by days in either direction. */
    goesMs: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 5 * HOUR_MS }) },
      { weight: 1, arbitrary: fc.integer({ min: -9 * 24 * HOUR_MS, max: 9 * 24 * HOUR_MS }) },
    ),
    erased: fc.integer({ min: 0, max: 7 }).map((one) => one === 0),
  }),
  { minLength: 1, maxLength: 80, size: 'max' },
)

const aSearch = fc.record({
  query: fc.constantFrom('tea', 'tea ', 'milk ', 'chat ', 'sms', 'tea milk '),
  channel: aChannel,
  from: fc.option(aMoment),
  until: fc.option(aMoment),
  limit: fc.integer({ min: 1, max: 12 }),
})

/** Whether the words match the query. Its last word is a prefix unless a space follows. */
function matches(words: readonly string[], query: string): boolean {
  const asked = query.trim().split(' ')
  return asked.every((word, index) =>
    words.some((each) =>
      index === asked.length - 1 && !query.endsWith(' ') ? each.startsWith(word) : each === word,
    ),
  )
}

const isoOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

test('pages a filtered search like a plain filter: each event once, newest first', () => {
  fc.assert(
    fc.property(someFacts, fc.array(aSearch, { minLength: 8, maxLength: 8 }), (facts, searches) => {
      const directory = testDirectory()
      const writer = openTestWriter(directory, { projections: [searchProjection] })
      let nowMs = START_MS
      const known = facts.map((fact, index) => {
        nowMs += fact.goesMs
        const at = new Date(nowMs).toISOString()
        const text = fact.words.join(' ')
        const event = said(text, { channel: fact.channel ?? undefined })
        writer.commit([[toDraft(event, { newId, newSalt, at })]])
        return { ...fact, at, seq: index + 1 }
      })
      writer.forget(...known.filter(({ erased }) => erased).map(({ seq }) => seq))
      writer.settle()
      const views = openViewsReadOnly(directory)
      for (const { query, channel, from, until, limit } of searches) {
        const filters: SearchFilters = { channel, fromAt: isoOf(from), untilAt: isoOf(until) }
        const expected = known
          .filter(
            ({ words, erased, at, ...event }) =>
              !erased &&
              matches(words, query) &&
              (channel === null || event.channel === channel) &&
              (from === null || Date.parse(at) >= from) &&
              (until === null || Date.parse(at) < until),
          )
          .map(({ seq }) => seq)
          .reverse()
        const found: number[] = []
        for (let beforeSeq: number | null = null; ; ) {
          const page = searchTimeline(views, { query, limit, beforeSeq, filters })
          found.push(...page.map(({ seq }) => seq))
          if (page.length < limit) break
          beforeSeq = page.at(-1)?.seq ?? null
        }
        expect(found).toEqual(expected)
      }
      views.close()
      writer.close()
    }),
    { numRuns: 60 },
  )
})
