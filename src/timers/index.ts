import { randomBytes } from 'node:crypto'
import { createFeed } from './feed.ts'
import { createTimers } from './timers.ts'
import { timerTools } from './tools.ts'

export type Timers = ReturnType<typeof buildTimers>

/** Wires timers: their reactor, the tools of the delegate, and the calendar's private address. */
export function buildTimers(
  options: Parameters<typeof createTimers>[0] & Pick<Parameters<typeof createFeed>[0], 'documents'>,
) {
  const timers = createTimers(options)
  const { append } = options.storage
  const newToken = () => randomBytes(32).toString('base64url')
  return { ...timers, tools: timerTools(timers), feed: createFeed({ ...options, append, newToken }) }
}
