import { getPriority, setPriority } from 'node:os'

const NICER_BY = 10
const NICEST = 19

/**
 * Lets the calling thread stand back behind the others of this process where the processor is short: a search or a
 * walk over the ledger can wait, a frame of audio cannot. Linux alone gives each thread a priority of its own
 * (setpriority(2), "C library/kernel differences"); elsewhere it would be that of the whole process, so nothing is
 * changed there.
 */
export function standBack(): void {
  if (process.platform !== 'linux') return
  setPriority(0, Math.min(NICEST, getPriority(0) + NICER_BY))
}
