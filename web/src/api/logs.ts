import type { Http } from './http.ts'
import {
  arrayField,
  asObject,
  type JsonObject,
  numberField,
  parseJson,
  stringField,
  UnexpectedAnswer,
} from './json.ts'

/** From the least serious to the most. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof logLevels)[number]

export type LogLine = {
  readonly id: number
  readonly at: string
  readonly level: LogLevel
  readonly message: string
  readonly fields: JsonObject
}

export type LogPage = {
  readonly lines: readonly LogLine[]
  /** Lines that the service dropped from its buffer before they were read. */
  readonly dropped: number
}

function levelField(object: JsonObject): LogLevel {
  const level = logLevels.find((known) => known === object.level)
  if (level === undefined) throw new UnexpectedAnswer('level')
  return level
}

function parseLine(value: unknown): LogLine {
  const line = asObject(value, 'log line')
  return {
    id: numberField(line, 'id'),
    at: stringField(line, 'at'),
    level: levelField(line),
    message: stringField(line, 'message'),
    fields: asObject(line.fields, 'fields'),
  }
}

/** The newest `limit` lines of `level` or above, oldest first. */
export async function fetchLog(http: Http, level: LogLevel, limit: number): Promise<LogPage> {
  const answer = asObject(await http('GET', '/api/logs', { query: { level, limit } }), 'log')
  return { lines: arrayField(answer, 'lines', parseLine), dropped: numberField(answer, 'dropped') }
}

export type LogFollower = {
  readonly onLine: (line: LogLine) => void
  readonly onDropped: (count: number) => void
  readonly onOpen: () => void
  /** The stream was cut. The browser reconnects by itself, unless `isOver`: then the service refused it. */
  readonly onCut: (isOver: boolean) => void
}

/** Streams each line after `afterId` and resumes after a cut. Returns an unsubscribe function. */
export function followLog(level: LogLevel, afterId: number, follower: LogFollower): () => void {
  const source = new EventSource(`/api/logs/stream?${new URLSearchParams({ level, after: String(afterId) })}`)
  source.addEventListener('line', ({ data }) =>
    follower.onLine(parseLine(parseJson(String(data), 'log line'))),
  )
  source.addEventListener('dropped', ({ data }) => follower.onDropped(Number(data)))
  source.addEventListener('open', follower.onOpen)
  source.addEventListener('error', () => follower.onCut(source.readyState === EventSource.CLOSED))
  return () => source.close()
}
