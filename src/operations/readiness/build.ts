import Database from 'better-sqlite3'
import { createTextQueries } from '../../../projections/texts.ts'
import { createTurnQueries } from '../../../projections/turns.ts'
import type { Foundation } from '../../foundation.ts'
import { isModelFailure } from '../../model/failure-text.ts'
import type { Parts } from '../../parts.ts'
import { createBacklogs } from './backlogs.ts'
import { createReadiness, type LastOutcome, type Readiness } from './readiness.ts'

/** Wires readiness to the stores, the reactors and the last outcomes of the outside services. */
export function buildReadiness(foundation: Foundation, parts: Parts, stopping: AbortSignal): Readiness {
  const { storage, settings, reactors, nowMs, log } = foundation
  const { ledger, views } = storage
  const turns = createTurnQueries(views)
  const texts = createTextQueries(views)
  reactors.start(createBacklogs({ views, ledger, nowMs, taskLimit: () => settings.get('TASK_LIMIT') }))

  function lastText(): LastOutcome | null {
    const last = texts.lastOutcome()
    return last ? { at: last.at, failure: last.kind } : null
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

/** Undefined if the views cannot be read, which another check reports. */
function whereReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Database.SqliteError) return undefined
    throw error
  }
}
