import { withoutMarks } from '../../../projections/search.ts'
import { decodeCursor, type PageCursor } from '../../../projections/timeline-page.ts'
import type { ErasureTarget } from '../../erasing/targets.ts'
import { periodOf } from '../../text/period.ts'
import { seqOf } from '../contract/list-query.ts'
import { eraseEvent, eraseSpan, page, search, span } from '../contract/timeline.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { invalidCursor, unknown } from '../server/problem.ts'
import { tooMuch } from './erasures.ts'

/** Parses a cursor from a query. Throws the refusal for a malformed one. */
export function cursorOf(before: string | undefined): PageCursor | null {
  if (before === undefined) return null
  const cursor = decodeCursor(before)
  if (!cursor) throw invalidCursor('before')
  return cursor
}

export function timelineRoutes(routes: Routes, deps: RouteDeps): void {
  const { timeline, erasures, nowMs } = deps
  const { ledger } = deps.storage
  const { paging } = deps.operations
  const { settings } = deps.owner

  /** Erases a target and returns how many events lost their words; 0 if none had any left. */
  async function erased(target: ErasureTarget): Promise<number> {
    const outcome = await erasures.eraseNow(target)
    if ('erased' in outcome) return outcome.erased
    if (outcome.status === 'too_much') throw tooMuch(outcome.limit)
    return 0
  }

  routes.openapi(page, (c) => {
    const { limit = settings.get('TIMELINE_PAGE_EVENTS'), before } = c.req.valid('query')
    const cursor = cursorOf(before)
    const found = timeline.page({ limit, cursor, conversationId: null })
    paging.count(found, cursor !== null)
    return c.json(found, 200)
  })

  routes.openapi(search, async (c) => {
    const { q, limit, cursor, channel = null, ...days } = c.req.valid('query')
    const { from, to, fromAt, untilAt } = periodOf(days, {
      nowMs: nowMs(),
      timezone: settings.get('TIMEZONE'),
    })
    const found = await timeline.search({
      query: q,
      limit: limit + 1,
      beforeSeq: seqOf(cursor),
      filters: { channel, fromAt, untilAt },
    })
    const shown = found.slice(0, limit)
    const events = new Map(ledger.readSeqs(shown.map(({ seq }) => seq)).map((event) => [event.seq, event]))
    const hits = shown.flatMap(({ seq, snippet }) => {
      const event = events.get(seq)
      if (!event || event.type === 'unknown' || event.erased) return []
      const { at, type, channel, conversationId, spanId } = event
      const marked = snippet
      return [{ seq, at, type, channel, conversationId, spanId, snippet: withoutMarks(snippet), marked }]
    })
    const nextCursor = found.length > limit ? String(shown.at(-1)?.seq) : null
    return c.json({ hits, from: from ?? undefined, to: to ?? undefined, nextCursor }, 200)
  })

  routes.openapi(span, (c) => {
    const found = timeline.span(c.req.valid('param').id)
    if (!found) throw unknown('span')
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
}
