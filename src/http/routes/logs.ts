import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import type { LogLevel, LogLines } from '../../lib/log-lines.ts'
import { idSchema, LINES_PER_READ, pageRoute, streamRoute } from '../contract/logs.ts'
import type { CoreDeps } from '../features.ts'
import { type HttpContext, type Routes, sessionOf } from '../server/env.ts'

/** Proxies close idle connections, most of them after a minute. */
const HEARTBEAT_MS = 25_000

export function logRoutes(routes: Routes, { logLines: lines, sessions, stopping }: CoreDeps): void {
  routes.openapi(pageRoute, (c) => {
    const { limit, level, after } = c.req.valid('query')
    const page = lines.read({ limit, minLevel: level, after: after ?? null })
    return c.json({ lines: page.lines, dropped: page.dropped }, 200)
  })

  routes.openapi(streamRoute, (c) => {
    const { level, after } = c.req.valid('query')
    const lastSeen = idSchema.safeParse(c.req.header('last-event-id') ?? undefined)
    const from = lastSeen.success ? lastSeen.data : (after ?? null)
    const ended = new AbortController()
    const unwatch = sessions.onEnded(sessionOf(c).id, () => ended.abort())
    const ending = AbortSignal.any([stopping, ended.signal])
    return streamSSE(c, (stream) => followLines(c, stream, lines, ending, from, level).finally(unwatch))
  })
}

/** Sends lines as they are added. Waits for slow readers instead of buffering for them, and reports the lines dropped meanwhile. */
export async function followLines(
  c: HttpContext,
  stream: SSEStreamingApi,
  lines: LogLines,
  ending: AbortSignal,
  from: number | null,
  minLevel: LogLevel,
): Promise<void> {
  // The log is private, and the library only says `no-cache`.
  c.header('Cache-Control', 'no-store')
  // Nobody would read the stream, so it would never end.
  if (c.req.method === 'HEAD') return
  let position = from
  let isBeatDue = false
  let news = Promise.withResolvers<void>()
  const wake = () => news.resolve()
  const unsubscribe = lines.subscribe(wake)
  const heartbeat = setInterval(() => {
    isBeatDue = true
    wake()
  }, HEARTBEAT_MS)
  stream.onAbort(wake)
  ending.addEventListener('abort', wake)
  try {
    while (!stream.aborted && !ending.aborted) {
      // Renewed before the read, so that a line added during it wakes the loop.
      news = Promise.withResolvers()
      const page = lines.read({ limit: LINES_PER_READ, minLevel, after: position })
      if (page.dropped > 0 && position !== null) {
        await stream.writeSSE({ event: 'dropped', data: String(page.dropped) })
      }
      for (const line of page.lines) {
        await stream.writeSSE({ event: 'line', id: String(line.id), data: JSON.stringify(line) })
      }
      position = page.throughId
      if (isBeatDue) await stream.write(': alive\n\n')
      isBeatDue = false
      if (page.lines.length < LINES_PER_READ) await news.promise
    }
  } finally {
    unsubscribe()
    clearInterval(heartbeat)
    ending.removeEventListener('abort', wake)
  }
}
