import type { ReadingRow } from '../../../projections/import-readings.ts'
import { english } from '../../language/message.ts'
import { msg } from '../../language/msg.ts'
import {
  cancelReading,
  candidates,
  decide,
  estimate,
  readings as listReadings,
  requestReading,
} from '../contract/imports.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { Refusal, unknown } from '../server/problem.ts'
import { selectionOf } from './imports.ts'

const SHOWN_READINGS = 20

/** Memories from imported conversations: looked for on request, and kept by the owner. */
export function importReadingRoutes(routes: Routes, { imports: { readings } }: RouteDeps): void {
  routes.openapi(estimate, (c) => c.json(readings.estimate(selectionOf(c.req.valid('json'))), 200))
  routes.openapi(requestReading, async (c) => {
    const reading = await readings.request(selectionOf(c.req.valid('json')))
    if (!reading) throw new Refusal(404, 'nothing_to_read', msg`There are no messages of yours to read.`)
    return c.json(present(reading), 201)
  })
  routes.openapi(listReadings, (c) =>
    c.json(
      { readings: readings.readings(SHOWN_READINGS).map(present), candidates: readings.candidateCount() },
      200,
    ),
  )
  routes.openapi(cancelReading, async (c) => {
    if (!(await readings.cancel(c.req.valid('param').id))) throw unknown(english`reading`)
    return c.body(null, 204)
  })
  routes.openapi(candidates, (c) => {
    const { limit, cursor } = c.req.valid('query')
    const found = readings.candidates(cursor === undefined ? FIRST : placeOf(cursor), limit + 1)
    const shown = found.slice(0, limit)
    const nextCursor = found.length > limit ? (shown.at(-1)?.id ?? null) : null
    return c.json({ candidates: shown, count: readings.candidateCount(), nextCursor }, 200)
  })
  routes.openapi(decide, async (c) => {
    const { ids, keep } = c.req.valid('json')
    return c.json({ decided: await readings.decide(ids.map(placeOf), keep) }, 200)
  })
}

const FIRST = { seq: 0, index: 0 }

function placeOf(id: string) {
  const [seq, index] = id.split('.').map(Number)
  return { seq: seq ?? 0, index: index ?? 0 }
}

function present({ readingId: id, status: state, parts: requests, ...row }: ReadingRow) {
  const { requestedAt, read, failed, candidates: found } = row
  return { id, state, requestedAt, requests, read, failed, candidates: found }
}
