import type { LogLevel, LogLine } from '../../../src/http/contract/logs.ts'

/** From the least serious to the most. */
export const logLevels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

export type LogFollower = {
  readonly onLine: (line: LogLine) => void
  readonly onDropped: (count: number) => void
  readonly onOpen: () => void
  /** The stream was cut. The browser reconnects by itself, unless `isOver`: then the service refused it. */
  readonly onCut: (isOver: boolean) => void
}

/** Streams each line after `afterId` and resumes after a cut, until the signal aborts. */
export function followLog(
  level: LogLevel,
  afterId: number,
  signal: AbortSignal,
  follower: LogFollower,
): void {
  const source = new EventSource(`/api/logs/stream?${new URLSearchParams({ level, after: String(afterId) })}`)
  source.addEventListener('line', ({ data }) => follower.onLine(JSON.parse(data)))
  source.addEventListener('dropped', ({ data }) => follower.onDropped(Number(data)))
  source.addEventListener('open', follower.onOpen)
  source.addEventListener('error', () => follower.onCut(source.readyState === EventSource.CLOSED))
  signal.addEventListener('abort', () => source.close())
}
