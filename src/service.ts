import { createIds } from '../ledger/ids.ts'
import type { Head } from '../ledger/reader.ts'
import { createBackupQueries } from '../projections/backups.ts'
import { buildAdaptations } from './adaptations/index.ts'
import { fitCall } from './agent/context/fit-call.ts'
import { buildAgent } from './agent/index.ts'
import { buildBackups } from './backups/index.ts'
import type { Config } from './config.ts'
import { buildErasing, type ErasingQueryFunctions, erasingQueries } from './erasing/index.ts'
import { buildHalt } from './halt/index.ts'
import type { BuildInfo } from './http/contract/health.ts'
import { buildHttp } from './http/index.ts'
import type { StaticFiles } from './http/server/static-files.ts'
import { buildImports, type ImportQueryFunctions, importQueries } from './imports/index.ts'
import type { Log } from './lib/log.ts'
import type { LogLines } from './lib/log-lines.ts'
import { createMask } from './lib/mask.ts'
import { buildMemory, type MemoryQueryFunctions, memoryQueries } from './memory/index.ts'
import { buildMetrics } from './metrics/index.ts'
import { createModelHolder, type ModelLimits } from './model/service.ts'
import { buildNotes, type NoteQueryFunctions, noteQueries } from './notes/index.ts'
import { buildNotifications } from './notifications/index.ts'
import { openWhileWaiting } from './opening.ts'
import { buildOperations } from './operations/index.ts'
import { type OutboundPauses, outboundPauses } from './outbound/backoff.ts'
import { buildOutbound } from './outbound/index.ts'
import type { PushConnect } from './outbound/push.ts'
import { buildPhone } from './phone/index.ts'
import { createTelephonyApi } from './phone/line/api.ts'
import { chosenSettings, openOwnerState } from './settings/index.ts'
import { ownerNumbersOf } from './settings/party.ts'
import type { Settings } from './settings/settings.ts'
import { buildSms } from './sms/index.ts'
import type { ThreadFailed } from './storage/function-thread.ts'
import { openQueries } from './storage/queries.ts'
import { buildTasks } from './tasks/index.ts'
import { segmentsOf } from './text/segments.ts'
import { buildTimeline, type TimelineQueryFunctions, timelineQueries } from './timeline/index.ts'
import { buildTimers } from './timers/index.ts'

export type Service = {
  /** The port that the service listens on. */
  readonly port: number
  /** The code that installation asks for; null once installed. */
  readonly setupCode: string | null
  /** The last event of the ledger. */
  head(): Head
  /** Accepts no new work, lets running work finish, then closes everything. */
  close(): Promise<void>
}

/** Limits in milliseconds. Each default stands where it is used. */
export type ServiceWaits = {
  /** How long after the start recall is warmed up. */
  readonly warmUpMs?: number
  /** How long running work may continue once the service is asked to stop. */
  readonly workGraceMs?: number
  /** How long the telephony provider may take to answer a request. */
  readonly providerRequestMs?: number
  /** How long a call's socket may take to present its token. */
  readonly streamStartMs?: number
  /** How often to look for interactions that have gone idle. */
  readonly idleLookMs?: number
  /** How long an open page may take to report that it has shown a notification. */
  readonly openPageMs?: number
}

export type ServiceOptions = {
  readonly config: Config
  readonly buildInfo: BuildInfo
  /** The built web app. */
  readonly staticFiles: StaticFiles
  readonly log: Log
  readonly logLines: LogLines
  readonly nowMs: () => number
  readonly random: () => number
  /** Overrides the limits of a request to the model service. */
  readonly modelLimits?: ModelLimits | undefined
  /** Overrides the pauses between retries of outbound work. */
  readonly outboundPauses?: OutboundPauses | undefined
  /** Overrides how push services are connected to. */
  readonly pushConnect?: PushConnect | undefined
  /** Overrides how long the service waits for others. */
  readonly waits?: ServiceWaits | undefined
  /** Receives the settings once they are open, so that the log can mask secrets. */
  readonly onSettings: (settings: Settings) => void
  /** Facts can no longer be acknowledged, so the process must end. */
  readonly onFatal: (error: Error) => void
}

// These three run one after the other, so that a shutdown takes less than ten seconds.
/** How long the facts of a call that is hung up may take to become durable. */
const CALL_GRACE_MS = 1_500
/** How long running turns, activations and deliveries may take. */
const WORK_GRACE_MS = 5_000
/** What a webhook in flight gets at least, after turns that took all of it. */
const MIN_GRACE_MS = 1_000
/** How long requests and sockets may take to end. */
const HTTP_GRACE_MS = 1_000

/** Builds, starts and closes everything. The only place that defines the order. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const base = await openBase(options)
  const kept = buildKept(base)
  const features = { ...kept, ...(await buildChannels(base, kept)) }
  const http = buildHttp({ ...base, ...features })

  const { config, storage, queries, owner, halt, waits } = base
  const { phone, outbound, notifications, timers, memory, erasures, tasks, notes, backups, imports } =
    features
  const { attention, guests, idleWatch, proposals } = features.agent
  const { workGraceMs = WORK_GRACE_MS, warmUpMs = 0 } = waits

  // Recorded before anything acts on it: a halt from the shell, the current instructions, and the ends of interrupted calls.
  await halt.start()
  const { skipped } = await features.adaptations.start()
  if (skipped.length > 0)
    options.log.warn({ files: skipped.length, reason: skipped[0]?.reason }, 'skipped adaptation files')
  // Recall has a short timeout, so its thread should be ready before the first turn.
  const warmUp = setTimeout(() => {
    queries.warm()
    memory.warm()
  }, warmUpMs).unref()
  await phone.start()
  attention.start()
  guests.start()
  outbound.start()
  notifications.start()
  timers.start()
  memory.start()
  idleWatch.start()
  erasures.start()
  proposals.start()
  backups.start()
  imports.start()
  // Listen once all of these run. Tasks start last, because their programs report to the port.
  // Until then, the page that waits answers.
  await base.waiting.close()
  const port = await http.listen(config.port, config.host)
  tasks.start(port)

  return {
    port,
    setupCode: owner.account.isInstalled() ? null : owner.setupCode,
    head: storage.ledger.head,
    async close() {
      // Stop the sources of new work first, then the work.
      clearTimeout(warmUp)
      http.drain()
      await phone.close(CALL_GRACE_MS)
      await idleWatch.close()
      await proposals.close()
      await backups.close()
      await imports.close()
      await erasures.close()
      await timers.close()
      await notifications.close()
      const untilMs = performance.now() + workGraceMs
      await Promise.all([tasks.close(), attention.close(workGraceMs), guests.close(workGraceMs)])
      // After the tasks and turns, whose outcomes and answers it delivers.
      await outbound.close(Math.max(MIN_GRACE_MS, untilMs - performance.now()))
      await memory.close()
      // After the turns, so that clients see them end. The stores come last.
      await http.close(HTTP_GRACE_MS)
      await notes.close()
      await halt.close()
      await queries.close()
      await storage.close()
      owner.close()
    },
  }
}

/** Opens what features stand on: the stores, the settings, the model that they name, and operations. */
async function openBase(options: ServiceOptions) {
  const { config, log, nowMs } = options
  const directory = config.dataDir
  const newId = createIds(nowMs)
  const onThreadFailure = (failure: ThreadFailed) => log.error({ err: failure }, 'a thread was terminated')
  const { stores, waiting } = await openWhileWaiting(options, newId, options.buildInfo)
  const { storage } = stores
  const owner = openOwnerState({
    directory,
    environment: config.settings,
    append: storage.append,
    hasFact: (key) => storage.ledger.rowByKey(key) !== undefined,
    nowMs,
    newId,
    onWarning: (message, fields) => log.warn(fields, message),
  })
  const { settings } = owner
  settings.bindStoredSecrets()
  options.onSettings(settings)
  const halt = buildHalt({
    storage,
    directory,
    onFault: (error) => log.error({ err: error }, 'a halt could not be recorded'),
  })
  const isHalted = halt.mustWait
  const operations = buildOperations({
    storage,
    settings,
    limits: config.dailyLimits,
    isHalted,
    newId,
    nowMs,
    log,
  })
  const backupQueries = createBackupQueries(storage.views)
  const metrics = buildMetrics({
    storage,
    allowance: operations.money.windows,
    isHalted: halt.isHalted,
    kindOf: (provider) => models.kindOf(provider),
    lastBackupAt: () => backupQueries.newest(nowMs())?.createdAt ?? null,
    nowMs,
  })
  const models = createModelHolder(chosenSettings(settings), {
    limits: options.modelLimits ?? {},
    pay: { meter: operations.money.meter, observe: metrics.observeRequest },
    language: owner.language.current,
  })
  settings.subscribe(() => models.configure(chosenSettings(settings)))

  return {
    ...options,
    ...stores,
    directory,
    waiting,
    devRoutes: config.devRoutes,
    allowedHosts: config.allowedHosts,
    metricsToken: config.metricsToken,
    waits: options.waits ?? {},
    pauses: options.outboundPauses ?? outboundPauses,
    newId,
    onThreadFailure,
    owner,
    halt,
    isHalted,
    settings,
    timezone: () => settings.get('TIMEZONE'),
    language: owner.language.current,
    mask: createMask(() => settings.secretValues()),
    /** The current model service. */
    model: models.current,
    models,
    answering: models.answering,
    openConversationId: stores.placement.openConversationId,
    queries: openQueries<
      MemoryQueryFunctions &
        ErasingQueryFunctions &
        TimelineQueryFunctions &
        ImportQueryFunctions &
        NoteQueryFunctions
    >(directory, [memoryQueries, erasingQueries, timelineQueries, importQueries, noteQueries], {
      onFailure: onThreadFailure,
    }),
    operations,
    metrics,
  }
}

type Base = Awaited<ReturnType<typeof openBase>>

/** Builds what the delegate keeps and works on, each part from earlier ones. None runs before it is started. */
function buildKept(base: Base) {
  const { config, operations, owner, settings } = base
  const { faultsOf } = operations
  const timeline = buildTimeline(base)
  const adaptations = buildAdaptations(base)
  const notes = buildNotes(base)
  const timers = buildTimers({ ...base, documents: owner.documents, onFault: faultsOf('timers') })
  const memory = buildMemory({
    ...base,
    documents: owner.documents,
    onLearningFailed: operations.failuresOf('learning'),
    mayLearn: () => !operations.money.isSpent('learning'),
  })
  settings.subscribe(memory.wake)
  const backups = buildBackups({ ...base, onFault: faultsOf('backups') })
  const imports = buildImports({
    ...base,
    learning: memory.imported,
    priceOf: operations.money.estimate,
    mayLearn: () => !operations.money.isSpent('learning'),
    isAnswering: memory.isAnswering,
    onFault: faultsOf('imports'),
  })
  const { erasures, forgetting } = buildErasing({
    ...base,
    memory,
    importedSeqs: imports.seqsOf,
    forgetVectors: memory.forgetVectors,
    spanSeqs: timeline.spanSeqs,
    adaptationSeqs: adaptations.seqs,
    removeAdaptationFiles: adaptations.removeFilesOf,
    copiesFrom: owner.offlineCopies.from,
    backupsHolding: backups.holding,
    onFault: faultsOf('erasures'),
  })
  const tasks = buildTasks({
    ...base,
    // A lease that runs out for a while ends no program.
    isHalted: base.halt.isHalted,
    isHaltPending: base.halt.isPending,
    command: config.copilotCommand,
    assistantEnvironment: config.copilotEnvironment,
    isolation: config.taskIsolation,
    host: config.host,
    ownerNumber: () => ownerNumbersOf(settings)[0] ?? '',
    onFault: faultsOf('tasks', 'a task could not go on'),
    onAnnouncementFault: faultsOf('announcements', 'the outcome of a task could not be announced'),
  })
  return { timeline, adaptations, notes, timers, memory, backups, imports, erasures, forgetting, tasks }
}

/** Builds the agent and its channels from what it keeps. */
async function buildChannels(base: Base, kept: ReturnType<typeof buildKept>) {
  const { config, operations, settings, waits } = base
  const { faultsOf, budgets, money } = operations
  const { adaptations, memory, notes } = kept
  const telephony = createTelephonyApi(settings, { requestMs: waits.providerRequestMs })
  const notifications = buildNotifications({
    ...base,
    subscriptions: base.owner.pushSubscriptions,
    hasTelephony: () => telephony.credentials() !== null,
    openPageMs: waits.openPageMs,
    titleOfTask: (taskId) => kept.tasks.tasks.get(taskId)?.title ?? '',
    onFault: faultsOf('notifications'),
  })
  const outbound = buildOutbound({
    ...base,
    textsAreSpent: () => budgets.textsAreSpent() || money.isSpent('text'),
    reserveText: money.reserveText,
    subscriptions: base.owner.pushSubscriptions,
    telephony,
    isObsolete: notifications.isObsolete,
    describe: kept.tasks.describe,
    onFault: faultsOf('deliveries', 'a delivery could not go on'),
  })
  const texts = buildSms({
    ...base,
    ...budgets,
    hasCredentials: () => telephony.credentials() !== null,
    claimReply: outbound.claimReply,
    halt: base.halt.halt,
  })
  const agent = buildAgent({
    ...base,
    ...budgets,
    tools: ({ propose, offeredIn }) => [
      ...memory.tools(kept.forgetting, offeredIn),
      ...notes.tools,
      ...kept.timers.tools,
      ...kept.tasks.tools,
      ...kept.timeline.tools,
      ...texts.tools(propose),
    ],
    maskSecrets: base.mask.values,
    recall: memory.recall,
    replacedWords: memory,
    createNote: notes.create,
    segmentsOf,
    backgroundIsSpent: () => money.isSpent('activation'),
    costOf: money.costOf,
    adaptations: adaptations.forChannel,
    adaptationSeqs: adaptations.seqsInForce,
    traceItems: config.itemsDebug,
    guestWordSeqs: texts.guestWordSeqs,
    idleLookMs: waits.idleLookMs,
    onFault: faultsOf('turns', 'the attention failed'),
    onGuestFault: faultsOf('guests', "a stranger's turn failed"),
    onIdleFault: faultsOf('idle spans'),
    onProposalFault: faultsOf('proposals'),
  })
  const phone = await buildPhone({
    ...base,
    ...budgets,
    callMoney: money.calls,
    telephony,
    recall: memory.recall,
    tools: agent.tools,
    chain: agent.chain,
    callTools: agent.callTools,
    proposals: agent.proposals,
    sourcesOf: agent.sourcesOf,
    instructions: (how) => agent.instructions('voice', how),
    fitCall,
    guestInstructions: agent.guestCallInstructions,
    adaptationIds: () => adaptations.forChannel('voice').map(({ id }) => id),
    guestWordSeqs: texts.guestWordSeqs,
    halt: base.halt.halt,
    isHaltPending: base.halt.isPending,
    streamStartMs: waits.streamStartMs,
  })
  return { telephony, outbound, notifications, texts, agent, phone }
}
