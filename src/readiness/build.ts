import Database from 'better-sqlite3'
import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { isModelFailure } from '../agent/failure-text.ts'
import type { Foundation } from '../foundation.ts'
import type { Parts } from '../parts.ts'
import { createBacklogs } from './backlogs.ts'
import { createReadiness, type LastOutcome, type Readiness } from './readiness.ts'

/** Why a text failed that says nothing of the provider. */
const FAILURES_OF_THE_TEXT: ReadonlySet<string | null> = new Set(['opted_out', 'refused', 'budget', 'erased'])

/** The readiness, wired: it asks the stores, the reactors, and how the outside services went last. */
export function buildReadiness(foundation: Foundation, parts: Parts, stopping: AbortSignal): Readiness {
  const { storage, settings, reactors, nowMs, log } = foundation
  const { ledger, views } = storage
  const turns = createTurnQueries(views)
  const deliveries = createDeliveryQueries(views)
  reactors.start(createBacklogs({ views, ledger, nowMs, taskLimit: () => settings.get('TASK_LIMIT') }))

  function lastText(): LastOutcome | null {
    const row = deliveries.lastText()
    if (!row) return null
    const failure = row.status === 'unknown' ? 'unknown' : row.kind
    return { at: row.attemptedAt, failure: FAILURES_OF_THE_TEXT.has(failure) ? null : failure }
  }

  const readiness = createReadiness({
    directory: foundation.directory,
    storageStatus: storage.status,
    reactors: reactors.report,
    isStopping: () => stopping.aborted,
    isLearningStalled: parts.memory.isStalled,
    model() {
      const { provider, model: name } = foundation.answering()
      const last = whereReadable(turns.lastEnded)
      const failure = last?.status === 'failed' && isModelFailure(last.kind) ? last.kind : null
      return { name: `${provider}/${name}`, failure }
    },
    lastText: () => (parts.telephony.credentials() === null ? undefined : (whereReadable(lastText) ?? null)),
    log,
  })
  return {
    check: readiness.check,
    async close() {
      reactors.close()
      await readiness.close()
    },
  }
}

/** Undefined where the views cannot be read: another check says so. */
function whereReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Database.SqliteError) return undefined
    throw error
  }
}
