const firstDelayMs = 500
const maxDelayMs = 15_000

/** Exponential backoff with equal jitter (half fixed, half random). `attempt` counts from 0. */
export function backoffMs(attempt: number, random: () => number): number {
  const stepMs = Math.min(maxDelayMs, firstDelayMs * 2 ** attempt)
  return stepMs / 2 + (stepMs / 2) * random()
}
