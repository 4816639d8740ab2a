import fc from 'fast-check'
import { Kysely, SqliteDialect } from 'kysely'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { projections } from '../../projections/all.ts'
import { listConversations } from '../../projections/conversation-queries.ts'
import { createOpenSpanQueries } from '../../projections/open-spans.ts'
import type { ViewsTables } from '../../projections/tables.ts'
import { createRunQueries, seqsOf } from '../../projections/timeline-runs.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

const NAMES = ['timeline', 'turns', 'conversations', 'open_spans', 'derivations']
const folded = projections.filter(({ name }) => NAMES.includes(name))

const anEvent = fc.record({
  conversation: fc.constantFrom(null, 'c0', 'c1', 'c2'),
  turn: fc.constantFrom(null, 't0', 't1'),
  span: fc.constantFrom(null, null, 's0', 's1', 's2'),
  channel: fc.constantFrom('chat', 'voice', 'inner'),
  opens: fc.boolean(),
})

const aStep = fc.oneof(
  // Includes long batches of one event, so that runs grow within a batch and across batches.
  { weight: 6, arbitrary: fc.record({ event: anEvent, times: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 3, arbitrary: fc.record({ batch: fc.array(anEvent, { minLength: 1, maxLength: 12 }) }) },
  { weight: 1, arbitrary: fc.constant({ restart: true as const }) },
)

function eventOf({
  conversation,
  turn,
  span,
  channel,
  opens,
}: typeof anEvent extends fc.Arbitrary<infer T> ? T : never) {
  const place = { conversationId: conversation, spanId: span, turnId: turn }
  if (opens && span !== null)
    return {
      type: 'span.opened',
      actor: 'service',
      facts: { kind: 'interaction' },
      ...place,
    } satisfies NewEvent
  return { ...said('words', place), channel } as NewEvent
}

test('holds each event once in runs, with turns, counts and last times, for any batches', {
  tags: ['long'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aStep, { minLength: 1, maxLength: 40, size: 'max' }),
      fc.nat(200),
      async (steps, after) => {
        const directory = testDirectory()
        const open = () => openTestWriter(directory, { projections: folded })
        let writer = open()
        writer.append(
          ...['c0', 'c1'].map(
            (conversationId): NewEvent => ({
              type: 'conversation.started',
              actor: 'owner',
              facts: {},
              conversationId,
            }),
          ),
        )
        for (const step of steps) {
          if ('event' in step)
            for (let time = 0; time < step.times; time += 1) writer.append(eventOf(step.event))
          else if ('batch' in step) writer.append(...step.batch.map(eventOf))
          else {
            writer.close()
            writer = open()
          }
        }
        const rows = writer.ledger.rowsAfter(0, 10_000)
        const views = openViewsReadOnly(directory)
        const runs = createRunQueries(views)
        expect(seqsOf(runs.before(null, rows.length + 1, rows.length, (all) => all).reverse())).toEqual(
          rows.map(({ seq }) => seq),
        )
        const startOf = views
          .prepare<[string], number>('SELECT startSeq FROM timeline_conversations WHERE conversationId = ?')
          .pluck()
        for (const conversationId of ['c0', 'c1', 'c2']) {
          const own = rows.filter((row) => row.conversationId === conversationId)
          expect(seqsOf(runs.after(startOf.get(conversationId) ?? -1, after, rows.length))).toEqual(
            own.flatMap(({ seq }) => (seq > after ? [seq] : [])),
          )
        }
        const turns = createTurnQueries(views)
        for (const turnId of ['t0', 't1'])
          expect(turns.eventSeqs(turnId)).toEqual(
            rows.flatMap((row) => (row.turnId === turnId ? [row.seq] : [])),
          )
        const listed = await listConversations(
          new Kysely<ViewsTables>({ dialect: new SqliteDialect({ database: views }) }),
          { limit: 10, beforeSeq: null },
        )
        expect(
          listed.map(({ id, eventCount, lastEventAt, chat, voice }) => ({
            id,
            eventCount,
            lastEventAt,
            chat,
            voice,
          })),
        ).toEqual(
          ['c1', 'c0'].map((id) => {
            const own = rows.filter((row) => row.conversationId === id)
            const used = (channel: string) => Number(own.some((row) => row.channel === channel))
            return {
              id,
              eventCount: own.length,
              lastEventAt: own.at(-1)?.at,
              chat: used('chat'),
              voice: used('voice'),
            }
          }),
        )
        for (const span of createOpenSpanQueries(views).all())
          expect(span.lastAt).toBe(rows.findLast((row) => row.spanId === span.spanId)?.at)
        views.close()
        writer.close()
      },
    ),
    { numRuns: 40, endOnFailure: true },
  )
})
