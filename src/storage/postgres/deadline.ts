import { uptime } from 'node:os'

/** Until when a node may act, by two clocks. The one that passes first counts. */
export type Deadline = { readonly bootMs: number; readonly wallMs: number }

/** The time now. `uptime` counts suspended time, which CLOCK_MONOTONIC leaves out. */
const now = (): Deadline => ({ bootMs: uptime() * 1000, wallMs: Date.now() })

/** A deadline from the start of a renewal. */
export function startDeadline(): (afterMs: number) => Deadline {
  const { bootMs, wallMs } = now()
  return (afterMs) => ({ bootMs: bootMs + afterMs, wallMs: wallMs + afterMs })
}

export function isPast(deadline: Deadline): boolean {
  const { bootMs, wallMs } = now()
  return bootMs >= deadline.bootMs || wallMs >= deadline.wallMs
}
