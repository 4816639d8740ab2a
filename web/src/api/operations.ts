import type { Http } from './http.ts'
import { arrayField, asObject, isObject, stringField, UnexpectedAnswer } from './json.ts'

export type Report = {
  readonly from: string
  readonly to: string
  /** A figure by its path in the report, such as `memory.lateResults.expired`; null if there is none. */
  readonly figure: (path: string) => number | null
  /** Start of the process, from which runtime figures are counted. */
  readonly since: string
}

/** The counts of one minute, hour or day. Zero counts are absent. */
export type Point = { readonly at: string; readonly counts: Readonly<Record<string, number>> }
export type Series = { readonly grain: string; readonly points: readonly Point[] }

function parsePoint(value: unknown): Point {
  const point = asObject(value, 'point')
  const counts = Object.entries(asObject(point.counts, 'counts')).map(([metric, count]) => {
    if (typeof count !== 'number') throw new UnexpectedAnswer(metric)
    return [metric, count] as const
  })
  return { at: stringField(point, 'at'), counts: Object.fromEntries(counts) }
}

export async function fetchReport(http: Http, hours: number): Promise<Report> {
  const report = asObject(await http('GET', '/api/session/operations', { query: { hours } }), 'report')
  const window = asObject(report.window, 'window')
  const paging = asObject(report.timelinePaging, 'timelinePaging')
  return {
    from: stringField(window, 'from'),
    to: stringField(window, 'to'),
    since: stringField(paging, 'since'),
    figure(path) {
      let value: unknown = report
      for (const field of path.split('.')) value = isObject(value) ? value[field] : undefined
      if (value === null) return null
      if (typeof value !== 'number') throw new UnexpectedAnswer(path)
      return value
    },
  }
}

export async function fetchSeries(http: Http, hours: number): Promise<Series> {
  const series = asObject(await http('GET', '/api/session/operations/series', { query: { hours } }), 'series')
  return { grain: stringField(series, 'grain'), points: arrayField(series, 'points', parsePoint) }
}
