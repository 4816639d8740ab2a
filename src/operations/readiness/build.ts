import Database from 'better-sqlite3'
import { createTextQueries } from '../../../projections/texts.ts'
import { createTurnQueries } from '../../../projections/turns.ts'
import type { Log } from '../../lib/log.ts'
import { isModelFailure } from '../../model/failure-text.ts'
import type { ModelId } from '../../model/port.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Storage } from '../../storage/storage.ts'
import { createBacklogs } from './backlogs.ts'
import type { ReactorWatch } from './reactor-watch.ts'
import { createReadiness, type LastOutcome, type Readiness } from './readiness.ts'

export type ReadinessSources = {
  readonly directory: string
  readonly isStopping: () => boolean
  readonly isLearningStalled: () => boolean
  /** The model in use. */
  readonly answering: () => ModelId
  readonly hasTelephony: () => boolean
}

/** Wires readiness to the stores, the reactors and the last outcomes of the outside services. */
export function buildReadiness(
  options: ReadinessSources & {
    readonly storage: Storage
    readonly settings: Settings
    readonly reactors: ReactorWatch
    readonly nowMs: () => number
    readonly log: Log
  },
): Readiness {
  const { storage, settings, reactors, nowMs } = options
  const { ledger, views } = storage
  const turns = createTurnQueries(views)
  const texts = createTextQueries(views)
  reactors.start(createBacklogs({ views, ledger, nowMs, taskLimit: () => settings.get('TASK_LIMIT') }))

  function lastText(): LastOutcome | null {
    const last = texts.lastOutcome()
    return last ? { at: last.at, failure: last.kind } : null
  }

  const readiness = createReadiness({
    directory: options.directory,
    storageStatus: storage.status,
    reactors: reactors.report,
    isStopping: options.isStopping,
    isLearningStalled: options.isLearningStalled,
    model() {
      const { provider, model: name } = options.answering()
      const last = whereReadable(turns.lastEnded)
      const failure = last?.status === 'failed' && isModelFailure(last.kind) ? last.kind : null
      return { name: `${provider}/${name}`, failure }
    },
    lastText: () => (options.hasTelephony() ? (whereReadable(lastText) ?? null) : undefined),
    log: options.log,
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
