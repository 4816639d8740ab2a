import { createTimers } from './timers.ts'
import { timerTools } from './tools.ts'

/** Wires timers: their reactor, and the tools of the delegate. */
export function buildTimers(options: Parameters<typeof createTimers>[0]) {
  const timers = createTimers(options)
  return { ...timers, tools: timerTools(timers) }
}
