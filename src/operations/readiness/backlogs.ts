import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { createDeliveryQueries } from '../../../projections/deliveries.ts'
import { createErasureQueries } from '../../../projections/erasures.ts'
import { createReadingQueries } from '../../../projections/import-readings.ts'
import { createImportQueries } from '../../../projections/imports.ts'
import { createOwnerQueries } from '../../../projections/owner.ts'
import { createProposalQueries } from '../../../projections/proposals.ts'
import { createTaskQueries } from '../../../projections/tasks.ts'
import { createTimerQueries } from '../../../projections/timers.ts'
import { createTurnQueries } from '../../../projections/turns.ts'
import { createUtteranceQueries } from '../../../projections/utterances.ts'
import type { Backlog, ReactorName } from './reactor-watch.ts'

/** Counts unread utterances up to here only, because counting them all takes milliseconds. */
const MAX_COUNTED = 100

type Item = {
  readonly key: string
  /** The event that requested it; gives the time if `at` is absent. */
  readonly seq: number | null
  readonly at?: string
  /** Not due: it backs off, or is held. */
  readonly isResting?: boolean
}

/** The backlog of each reactor, from the views. */
export function createBacklogs(options: {
  readonly views: Database
  readonly ledger: LedgerReader
  readonly taskLimit: () => number
  /** While halted, only chat and what reaches nobody goes on. */
  readonly isHalted: () => boolean
  readonly nowMs: () => number
}): Readonly<Record<Exclude<ReactorName, 'idle spans'>, () => Backlog>> {
  const { views, ledger, isHalted, nowMs } = options
  const turns = createTurnQueries(views)
  const deliveries = createDeliveryQueries(views)
  const tasks = createTaskQueries(views)
  const timers = createTimerQueries(views)
  const proposals = createProposalQueries(views)
  const utterances = createUtteranceQueries(views)
  const erasures = createErasureQueries(views)
  const imports = createImportQueries(views)
  const readings = createReadingQueries(views)
  const owner = createOwnerQueries(views)
  const now = () => new Date(nowMs()).toISOString()
  const isOutboundHeld = () => isHalted() || owner.outboundHeld() !== undefined

  /** `items` in processing order. */
  function backlogOf(items: readonly Item[]): Backlog {
    const [first] = items
    const next = items.find(({ isResting }) => isResting !== true)
    const since =
      first && (first.at ?? (first.seq === null ? undefined : ledger.readSeqs([first.seq])[0]?.at))
    return { waiting: items.length, since: since ?? null, dueKey: next?.key ?? null }
  }

  const turnsOf = (party: 'owner' | 'guest') => () =>
    backlogOf(
      turns
        .unfinished()
        .filter((turn) => turn.party === party && (turn.trigger === 'message' || turn.trigger === 'sms'))
        .map(({ turnId, causeSeq, receivedAt, trigger }) => ({
          key: turnId,
          seq: causeSeq,
          at: receivedAt,
          isResting: trigger === 'sms' && isHalted(),
        })),
    )

  return {
    /** What is due depends on browsers and phones. Only failures are watched. */
    notifications: () => backlogOf([]),
    /** One may run for hours. Only failures are watched. */
    backups: () => backlogOf([]),
    /** Each may take hours, so none stands still. */
    imports: () =>
      backlogOf([
        ...imports
          .unfinished()
          .map(({ importId, startedAt }) => ({ key: importId, seq: null, at: startedAt, isResting: true })),
        ...readings.unfinished().map(({ readingId, requestedAt }) => ({
          key: readingId,
          seq: null,
          at: requestedAt,
          isResting: true,
        })),
      ]),
    turns: turnsOf('owner'),
    guests: turnsOf('guest'),
    deliveries() {
      const isHeld = isOutboundHeld()
      return backlogOf(
        deliveries.open().map(({ deliveryId, attempts, requestedSeq, retryAt }) => ({
          // Each attempt is progress.
          key: `${deliveryId}:${attempts}`,
          seq: requestedSeq,
          isResting: isHeld || (retryAt !== null && retryAt > now()),
        })),
      )
    },
    tasks() {
      const canStart = !isOutboundHeld() && tasks.running().length < options.taskLimit()
      const queued = tasks.queued()
      return backlogOf(
        queued.map(({ taskId, dispatchedSeq: seq }) => ({ key: taskId, seq, isResting: !canStart })),
      )
    },
    announcements: () =>
      backlogOf([
        ...tasks.unannounced().map(({ taskId, endedSeq }) => ({ key: taskId, seq: endedSeq })),
        ...deliveries
          .toFallBack()
          .map(({ deliveryId, requestedSeq }) => ({ key: deliveryId, seq: requestedSeq })),
      ]),
    timers: () =>
      backlogOf(
        timers
          .due(now())
          .map(({ timerId, dueAt, dueSeq }) => ({ key: `${timerId}:${dueSeq}`, seq: null, at: dueAt })),
      ),
    proposals() {
      const isHeld = isOutboundHeld()
      return backlogOf(
        proposals
          .pending()
          .map(({ proposalId, settledSeq: seq }) => ({ key: proposalId, seq, isResting: isHeld })),
      )
    },
    learning() {
      const unread = utterances.unreadSeqs(MAX_COUNTED)
      const failure = unread[0] === undefined ? undefined : utterances.failureOver(unread[0])
      const isResting = isHalted() || (failure?.retryAt != null && failure.retryAt > now())
      return backlogOf(unread.map((seq) => ({ key: String(seq), seq, isResting })))
    },
    erasures: () =>
      backlogOf(
        erasures
          .unfinished()
          .map(({ erasureId, eraseAt }) => ({ key: erasureId, seq: null, at: eraseAt }))
          .filter(({ at }) => at <= now()),
      ),
  }
}
