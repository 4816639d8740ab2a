/** For an even number of samples, the lower of the two middle ones. */
export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5)
}

export function quantile(samples: readonly number[], q: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

export const round = (value: number): number => Number(value.toPrecision(3))

export function timed(work: () => unknown): number {
  const startMs = performance.now()
  work()
  return performance.now() - startMs
}

/** Milliseconds of processor time, including threads of the runtime, so that other processes do not count. */
export function processorTime(work: () => unknown): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

export async function timedAsync(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
