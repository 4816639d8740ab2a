import type { z } from '@hono/zod-openapi'
import { type SearchHit, withoutMarks } from '../../../projections/search.ts'
import { decodeCursor } from '../../../projections/timeline-page.ts'
import type { ErasureTarget } from '../../erasing/targets.ts'
import { msg } from '../../language/msg.ts'
import { periodOf } from '../../timeline/period.ts'
import { seqOf } from '../contract/list-query.ts'
import {
  eraseEvent,
  eraseSpan,
  type SearchHit as Hit,
  keepMessage,
  page,
  type pageQuerySchema,
  search,
  span,
  type TimelinePage,
} from '../contract/timeline.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, invalidCursor, known, unknown } from '../server/problem.ts'
import { tooMuch } from './erasures.ts'

/** The timeline page that a query names, of one conversation or of all. */
export function pageOf(
  { timeline, operations, owner }: RouteDeps,
  { before, limit = owner.settings.get('TIMELINE_PAGE_EVENTS') }: z.output<typeof pageQuerySchema>,
  conversationId: string | null,
): TimelinePage {
  const cursor = before === undefined ? null : decodeCursor(before)
  if (before !== undefined && !cursor) throw invalidCursor('before')
  const page = timeline.page({ limit, cursor, conversationId })
  operations.paging.count(page, cursor !== null)
  return page
}

export function timelineRoutes(routes: Routes, deps: RouteDeps): void {
  const { timeline, erasures, memory, nowMs } = deps
  const { ledger } = deps.storage
  const { settings } = deps.owner

  /** Erases a target and returns how many events lost their words; 0 if none had any left. */
  async function erased(target: ErasureTarget): Promise<number> {
    const outcome = await erasures.eraseNow(target)
    if ('erased' in outcome) return outcome.erased
    if (outcome.status === 'too_much') throw tooMuch(outcome.limit)
    return 0
  }

  /** Hits with what their events say, without those that are erased or left out. */
  function shownOf(found: readonly SearchHit[]): Hit[] {
    const events = new Map(ledger.readSeqs(found.map(({ seq }) => seq)).map((event) => [event.seq, event]))
    return found.flatMap(({ seq, snippet: marked }) => {
      const event = events.get(seq)
      if (!event || event.type === 'unknown' || event.erased || timeline.isLeftOut(event)) return []
      const { at, type, channel, conversationId, spanId } = event
      return [{ seq, at, type, channel, conversationId, spanId, snippet: withoutMarks(marked), marked }]
    })
  }

  routes.openapi(page, (c) => c.json(pageOf(deps, c.req.valid('query'), null), 200))

  routes.openapi(search, async (c) => {
    const { q, limit, cursor, channel = null, ...days } = c.req.valid('query')
    const { from, to, fromAt, untilAt } = periodOf(days, {
      nowMs: nowMs(),
      timezone: settings.get('TIMEZONE'),
    })
    const isNarrowed = channel !== null || from !== null || to !== null
    const hits: Hit[] = []
    let beforeSeq = seqOf(cursor)
    let hasMore = true
    // What is left out must not end the list early.
    while (hasMore && hits.length < limit) {
      const wanted = limit - hits.length
      const found = await timeline.search({
        query: q.trim() === '' && isNarrowed ? null : q,
        limit: wanted + 1,
        beforeSeq,
        filters: { channel, fromAt, untilAt },
      })
      const looked = found.slice(0, wanted)
      hits.push(...shownOf(looked))
      hasMore = found.length > wanted
      beforeSeq = looked.at(-1)?.seq ?? null
    }
    const nextCursor = hasMore ? String(beforeSeq) : null
    return c.json({ hits, from: from ?? undefined, to: to ?? undefined, nextCursor }, 200)
  })

  routes.openapi(span, (c) => {
    const found = known(timeline.span(c.req.valid('param').id), 'span')
    return c.json({ ...found.span, events: found.events }, 200)
  })

  routes.openapi(eraseSpan, async (c) => {
    const { id } = c.req.valid('param')
    if (timeline.spanSeqs(id).length === 0) throw unknown('span')
    return c.json({ erased: await erased({ kind: 'span', id }) }, 200)
  })

  routes.openapi(eraseEvent, async (c) => {
    const { seq } = c.req.valid('param')
    if (!ledger.rowAt(seq)) throw unknown('event')
    return c.json({ erased: await erased({ kind: 'message', id: String(seq) }) }, 200)
  })

  routes.openapi(keepMessage, async (c) => {
    const { seq } = c.req.valid('param')
    if (!ledger.rowAt(seq)) throw unknown('event')
    if (!(await memory.memories.keep(seq)))
      throw conflict('nothing_to_undo', msg`There is nothing to undo: nobody asked not to keep this message.`)
    return c.json({ kept: true as const }, 200)
  })
}
