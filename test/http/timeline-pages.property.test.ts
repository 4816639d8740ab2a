import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { testDirectory } from '../support/directory.ts'
import { createRandom } from '../support/random.ts'
import { startWholeService } from '../support/service.ts'
import { openTestWriter, said } from '../support/writer.ts'
import type { Client } from './client.ts'

type PagedEvent = { readonly seq: number; readonly spanId: string | null; readonly payload: object }
type Page = {
  readonly events: readonly PagedEvent[]
  readonly spans: readonly { readonly id: string; readonly eventCount: number }[]
  readonly nextCursor: string | null
  readonly hasMore: boolean
  readonly expandedEvents: number
}

const aTimeline = fc.record({
  lengths: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 8 }) },
      { weight: 3, arbitrary: fc.integer({ min: 9, max: 120 }) },
      { weight: 1, arbitrary: fc.integer({ min: 500, max: 3000 }) },
    ),
    { minLength: 3, maxLength: 25, size: 'max' },
  ),
  /** How many spans are open at once: 1 makes them follow one another, 2 overlap in a chain, more tangle. */
  tangle: fc.integer({ min: 1, max: 6 }),
  limit: fc.integer({ min: 1, max: 700 }),
  inConversation: fc.boolean(),
  seed: fc.nat(),
})

function eventsOf(
  { lengths, tangle }: { lengths: readonly number[]; tangle: number },
  pick: (below: number) => number,
): NewEvent[] {
  const events: NewEvent[] = [
    { type: 'conversation.started', actor: 'service', conversationId: 'c', facts: {} },
  ]
  const waiting = lengths.map((left, index) => ({ spanId: `span-${index}`, conversationId: 'c', left }))
  const open = waiting.splice(0, tangle)
  while (open.length > 0) {
    const span = open[pick(open.length)]
    if (!span) break
    const { spanId, conversationId } = span
    events.push(
      pick(8) === 0
        ? said('loose', { conversationId })
        : said('w'.repeat(1 + pick(pick(30) === 0 ? 9000 : 60)), { spanId, conversationId }),
    )
    if (events.at(-1)?.spanId) span.left -= 1
    if (span.left === 0) open.splice(open.indexOf(span), 1, ...waiting.splice(0, 1))
  }
  return events
}

/** What an event carries besides its body: facts, ids, times. */
const MAX_ENVELOPE_BYTES = 1024
const MAX_BODY_BYTES = 4096

/** Reads every page while the ledger grows: notes are written, events erased. */
async function readAll(client: Client, path: string, limit: number, pick: (below: number) => number) {
  const pages: Page[] = []
  let cursor: string | null = null
  do {
    const answer = await client.get(`${path}?limit=${limit}${cursor === null ? '' : `&before=${cursor}`}`)
    expect(answer.status, answer.text).toBe(200)
    const page: Page = answer.json
    pages.push(page)
    expect(Buffer.byteLength(answer.text)).toBeLessThan(
      (page.events.length + page.spans.length + 1) * (MAX_ENVELOPE_BYTES + MAX_BODY_BYTES),
    )
    cursor = page.nextCursor
    if (pick(3) === 0) await client.post('/api/notes', { content: `while paging ${pick(1000)}` })
    const victim = page.events[pick(page.events.length)]
    if (victim && pick(6) === 0)
      expect((await client.delete(`/api/timeline/events/${victim.seq}`)).status).toBe(200)
  } while (cursor !== null)
  return pages
}

test('cuts no span and repeats or misses no event while the ledger grows, and counts the expansion', {
  tags: ['long'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(aTimeline, async ({ seed, limit, inConversation, ...shape }) => {
      const random = createRandom(seed).next
      const pick = (below: number) => Math.floor(random() * below)
      const directory = testDirectory()
      const writer = openTestWriter(directory)
      const prepared = eventsOf(shape, pick)
      for (let from = 0; from < prepared.length; from += 500)
        writer.append(...prepared.slice(from, from + 500))
      writer.close()
      const service = await startWholeService({ directory })
      const path = inConversation ? '/api/conversations/c/events' : '/api/timeline'
      const pages = await readAll(service.client, path, limit, pick)
      const seqs = pages.flatMap(({ events }) => events.map(({ seq }) => seq))
      const newest = pages[0]?.events.at(-1)?.seq ?? 0
      expect([...seqs].sort((a, b) => a - b)).toEqual(Array.from({ length: newest }, (_, index) => index + 1))
      for (const [index, page] of pages.entries()) {
        const own = page.events.map(({ seq }) => seq)
        expect(own).toEqual([...own].sort((a, b) => a - b))
        expect(page.hasMore).toBe(index < pages.length - 1)
        expect(page.nextCursor !== null).toBe(page.hasMore)
        const unexpanded = page.events.length - page.expandedEvents
        if (page.hasMore) expect(unexpanded).toBe(limit)
        else expect(unexpanded).toBeLessThanOrEqual(limit)
        for (const { id, eventCount } of page.spans) {
          expect(page.events.filter(({ spanId }) => spanId === id)).toHaveLength(eventCount)
        }
      }
      await service.stop()
    }),
    { numRuns: 4 },
  )
})
