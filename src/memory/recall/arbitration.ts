import type { Recollection } from './recollections.ts'

/** A model that selects the recollections relevant to a cue. May be slow or fail. */
export type Arbitrator = (
  cue: string,
  recollections: readonly Recollection[],
  signal: AbortSignal,
) => Promise<ReadonlySet<number>>

export type Arbitration = {
  readonly kept: readonly Recollection[]
  readonly dropped: readonly Recollection[]
  /** `late` and `failed` keep everything. */
  readonly outcome: 'judged' | 'late' | 'failed'
}

/** Asks the arbitrator and waits at most `timeoutMs`. Never rejects. */
export async function arbitrate(options: {
  readonly arbitrator: Arbitrator
  readonly cue: string
  readonly recollections: readonly Recollection[]
  readonly timeoutMs: number
  readonly onFault: (error: unknown) => void
}): Promise<Arbitration> {
  const { arbitrator, cue, recollections, timeoutMs, onFault } = options
  const unjudged = { kept: recollections, dropped: [] }
  if (recollections.length === 0) return { ...unjudged, outcome: 'judged' }
  const deadline = AbortSignal.timeout(timeoutMs)
  const late = new Promise<'late'>((resolve) => {
    deadline.addEventListener('abort', () => resolve('late'), { once: true })
  })
  try {
    const judged = await Promise.race([arbitrator(cue, recollections, deadline), late])
    if (judged === 'late') return { ...unjudged, outcome: 'late' }
    return {
      kept: recollections.filter(({ seq }) => judged.has(seq)),
      dropped: recollections.filter(({ seq }) => !judged.has(seq)),
      outcome: 'judged',
    }
  } catch (error) {
    if (deadline.aborted) return { ...unjudged, outcome: 'late' }
    onFault(error)
    return { ...unjudged, outcome: 'failed' }
  }
}
