import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { findDamage } from '../../ledger/damage.ts'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader, type Head } from '../../ledger/reader.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { openViewsReadOnly } from '../../projections/views.ts'

export type VerifyMessage =
  | { readonly kind: 'progress'; readonly seq: number }
  | { readonly kind: 'ledger'; readonly head: Head }
  | { readonly kind: 'ledger-damaged'; readonly seq: number | null; readonly message: string }
  | { readonly kind: 'views-damaged'; readonly message: string }

export type VerifyThreadData = {
  readonly directory: string
  /** Shared memory; 1 asks the thread to end. */
  readonly stopFlag: Int32Array<SharedArrayBuffer>
}

class Stopped extends Error {}

/** Pause after each chunk, about as long as the chunk takes, to leave CPU time for a call. */
const REST_MS = 1

function run(port: NonNullable<typeof parentPort>, data: VerifyThreadData): void {
  const { directory, stopFlag } = data
  const send = (message: VerifyMessage) => port.postMessage(message)
  const rest = () => {
    Atomics.wait(stopFlag, 0, 0, REST_MS)
    if (Atomics.load(stopFlag, 0) === 1) throw new Stopped()
  }
  rest()
  const damage = damageOfViews(directory)
  if (damage !== null) {
    send({ kind: 'views-damaged', message: damage })
    return
  }
  rest()
  walkLedger(directory, send, rest)
}

function damageOfViews(directory: string): string | null {
  const views = openViewsReadOnly(directory)
  try {
    return findDamage(views)
  } finally {
    views.close()
  }
}

function walkLedger(directory: string, send: (message: VerifyMessage) => void, rest: () => void): void {
  const ledger = openLedgerReadOnly(directory)
  try {
    const head = verifyChain(createReader(ledger), 0, (seq) => {
      send({ kind: 'progress', seq })
      rest()
    })
    rest()
    const damage = findDamage(ledger)
    if (damage === null) send({ kind: 'ledger', head })
    else send({ kind: 'ledger-damaged', seq: null, message: `ledger.sqlite is damaged: ${damage}` })
  } catch (error) {
    if (!(error instanceof LedgerDamaged || error instanceof Database.SqliteError)) throw error
    const seq = error instanceof LedgerDamaged ? error.seq : null
    send({ kind: 'ledger-damaged', seq, message: error.message })
  } finally {
    ledger.close()
  }
}

if (parentPort) {
  try {
    run(parentPort, workerData)
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
  }
}
