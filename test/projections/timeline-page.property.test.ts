import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { erasuresProjection } from '../../projections/erasures.ts'
import { timelineProjection } from '../../projections/timeline.ts'
import { MAX_PAGE_BODY_BYTES, type TimelineEvent } from '../../projections/timeline-event.ts'
import { createTimelineQueries, decodeCursor, type TimelinePage } from '../../projections/timeline-page.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
import { createRandom } from '../support/random.ts'
import { pageOf } from '../support/timeline-page.ts'
import { openTestWriter, said } from '../support/writer.ts'

/** The maximum size of an event without its body. */
const MAX_ENVELOPE_BYTES = 1024

const aSpanLength = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 3, arbitrary: fc.integer({ min: 9, max: 120 }) },
  { weight: 1, arbitrary: fc.integer({ min: 500, max: 3000 }) },
)

const aTimeline = fc.record({
  lengths: fc.array(aSpanLength, { minLength: 1, maxLength: 40, size: 'max' }),
  /** The number of concurrent spans: 1 means one after another, 2 a chain of overlaps. */
  tangle: fc.integer({ min: 1, max: 6 }),
  /** The number of events out of ten without a span. */
  loose: fc.integer({ min: 0, max: 4 }),
  seed: fc.nat(),
})

type Timeline = typeof aTimeline extends fc.Arbitrary<infer T> ? T : never

/** Events of spans that start one after another and interleave. */
function* eventsOf({ lengths, tangle, loose, seed }: Timeline): Generator<NewEvent> {
  const random = createRandom(seed).next
  const pick = (below: number) => Math.floor(random() * below)
  const waiting = lengths.map((left, index) => ({
    id: `span-${seed}-${index}`,
    conversationId: `c${index % 3}`,
    left,
  }))
  const open = waiting.splice(0, tangle)
  while (open.length > 0) {
    if (pick(10) < loose) {
      yield said(`loose ${'w'.repeat(pick(50))}`, { conversationId: pick(2) === 0 ? null : `c${pick(3)}` })
      continue
    }
    const span = open[pick(open.length)]
    if (!span) break
    const text = pick(40) === 0 ? '\u0001東x'.repeat(pick(3000)) || 'x' : 'words'
    yield said(text, { spanId: span.id, conversationId: span.conversationId })
    span.left -= 1
    if (span.left === 0) open.splice(open.indexOf(span), 1, ...waiting.splice(0, 1))
  }
}

/** The expected page, computed from every event. */
function modelPage(remaining: readonly Known[], limit: number): { expected: Known[]; expanded: number } {
  const newest = remaining.slice(-limit)
  const spans = new Set(newest.flatMap(({ spanId }) => spanId ?? []))
  const first = newest[0]?.seq ?? 0
  const older = remaining.filter(({ seq, spanId }) => seq < first && spanId !== null && spans.has(spanId))
  return { expected: [...older, ...newest], expanded: older.length }
}

type Known = { seq: number; spanId: string | null; conversationId: string | null }

test('cuts no span, skips and repeats nothing and bounds its bytes while events come and go', () => {
  fc.assert(
    fc.property(
      aTimeline,
      aTimeline,
      fc.integer({ min: 2, max: 40 }),
      fc.constantFrom(null, 'c0', 'c1'),
      (timeline, later, pages, conversationId) => {
        const directory = testDirectory()
        const writer = openTestWriter(directory, { projections: [timelineProjection, erasuresProjection] })
        const known: Known[] = []
        const append = (events: NewEvent[]) => {
          const outcome = writer.append(...events)
          if (outcome.status !== 'appended') throw new Error(outcome.status)
          known.push(...outcome.rows)
        }
        append([...eventsOf(timeline)])
        const limit = Math.ceil(known.length / pages)
        // Events appended between the pages, in new and in existing spans.
        const more = [...eventsOf(later)].map((event, index) =>
          index % 3 === 0 ? { ...event, spanId: known[index % known.length]?.spanId ?? null } : event,
        )
        const random = createRandom(timeline.seed).next
        const ledgerDb = openLedgerReadOnly(directory)
        const views = openViewsReadOnly(directory)
        const queries = createTimelineQueries(views, createReader(ledgerDb))
        const erased = new Set<number>()

        let remaining = known.filter(
          (event) => conversationId === null || event.conversationId === conversationId,
        )
        let page: TimelinePage | undefined
        do {
          const cursor = page?.nextCursor ? decodeCursor(page.nextCursor) : null
          page = pageOf(queries, { limit, cursor, conversationId })
          const { expected, expanded } = modelPage(remaining, limit)
          expect(page.events.map(({ seq }) => seq)).toEqual(expected.map(({ seq }) => seq))
          expect(page.expandedEvents).toBe(expanded)
          expect(page.spans.map(({ id }) => id).sort()).toEqual(
            [...new Set(expected.flatMap(({ spanId }) => spanId ?? []))].sort(),
          )
          const shown = new Set(expected.map(({ seq }) => seq))
          remaining = remaining.filter(({ seq }) => !shown.has(seq))
          expect(page.hasMore).toBe(remaining.length > 0)
          expect(page.nextCursor !== null).toBe(page.hasMore)
          for (const event of page.events) expectBounded(event, erased)

          if (more.length > 0) append(more.splice(0, 1 + Math.floor(random() * 50)))
          const seq = 1 + Math.floor(random() * known.length)
          if (seq % 4 === 0) for (const gone of writer.forget(seq)) erased.add(gone)
          known.push(...writer.ledger.rowsAfter(known.length, 10))
        } while (page.hasMore)
        for (const close of [views, ledgerDb, writer]) close.close()
      },
    ),
    { numRuns: 12, endOnFailure: true },
  )
})

function expectBounded(event: TimelineEvent, erased: ReadonlySet<number>): void {
  if (Buffer.byteLength(JSON.stringify(event)) > MAX_PAGE_BODY_BYTES + MAX_ENVELOPE_BYTES)
    expect.unreachable(`event ${event.seq} takes more than it may`)
  if (erased.has(event.seq)) expect(event.payload).toEqual({ erased: true })
}
