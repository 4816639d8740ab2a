import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createIds } from '../ledger/ids.ts'
import { recordImport } from '../ledger/imported.ts'
import { createMemoryQueries, isHidden } from '../projections/memory-queries.ts'
import { createProposalQueries } from '../projections/proposals.ts'
import type { TimelineSearch } from '../projections/search.ts'
import type { ViewsTables } from '../projections/tables.ts'
import { createTextQueries } from '../projections/texts.ts'
import { createTimelineQueries } from '../projections/timeline-page.ts'
import { createTurnQueries } from '../projections/turns.ts'
import { createAdaptations } from './adaptations/adaptations.ts'
import { createTurnReport } from './agent/turn-report.ts'
import { buildAssistant } from './assistant.ts'
import { createChatChannel } from './channels/chat.ts'
import { smsTools } from './channels/sms/tool.ts'
import { createHangUp, createTelephonyApi } from './channels/telephony/api.ts'
import { parseOwnerNumbers } from './channels/telephony/party.ts'
import type { Config } from './config.ts'
import { createEnding } from './conversation/ending.ts'
import { createIdleWatch } from './conversation/idle-watch.ts'
import { createPlacement } from './conversation/placement.ts'
import { createPreviews } from './conversation/previews.ts'
import { createErasure } from './forgetting/erasure.ts'
import { createErasures } from './forgetting/erasures.ts'
import { createTargets } from './forgetting/targets.ts'
import { buildHttpService } from './http-service.ts'
import type { Log } from './log.ts'
import type { LogLines } from './log-lines.ts'
import { createMemoryConfig } from './memory/config.ts'
import { openVectors } from './memory/embedding.ts'
import { buildMemory } from './memory-service.ts'
import { createModelHolder, type ModelLimits, type ModelSettings } from './model/service.ts'
import { createNotes } from './notes/notes.ts'
import { noteTools } from './notes/tools.ts'
import { createBudgets } from './operations/budgets.ts'
import { createPagingCounters } from './operations/paging-counters.ts'
import { createOperationsReport, createOperationsSeries } from './operations/report.ts'
import type { OutboundPauses } from './outbound/backoff.ts'
import { buildPhone } from './phone.ts'
import { createProposals } from './proposals/proposals.ts'
import { openOwnerState } from './settings/open.ts'
import type { Settings } from './settings/settings.ts'
import { openQueries } from './storage/queries.ts'
import { openStorage } from './storage/storage.ts'
import { taskTools } from './tasks/tools.ts'
import { buildTexts, createGuestQueries } from './texts.ts'
import { timelineTools } from './timeline/tools.ts'
import { createTimers } from './timers/timers.ts'
import { timerTools } from './timers/tools.ts'
import { buildWork } from './work.ts'

export type Service = {
  /** The port that it listens on. */
  readonly port: number
  /** To be entered by whoever installs it from another machine; null once it is installed. */
  readonly setupCode: string | null
  /** Answers nothing new, lets what runs finish, closes everything. */
  close(): Promise<void>
}

export type ServiceOptions = {
  readonly config: Config
  readonly log: Log
  readonly logLines: LogLines
  readonly nowMs: () => number
  readonly random: () => number
  /** What one request to the model service may take, where it is not the default. */
  readonly modelLimits?: ModelLimits | undefined
  /** How long what goes out waits where it fails, where it is not the default. */
  readonly outboundPauses?: OutboundPauses | undefined
  /** Given the settings once they are open, so that the log can mask the secrets among them. */
  readonly onSettings: (settings: Settings) => void
  /** What acknowledges facts is gone: the process must end. */
  readonly onFatal: (error: Error) => void
}

const PROJECT_DIRECTORY = fileURLToPath(new URL('..', import.meta.url))
/** How long what runs may go on when the service is told to stop. */
const GRACE_MS = 8_000

/** Builds everything, and closes everything: the one place where the parts are wired together. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, nowMs } = options
  const directory = config.dataDir
  const newId = createIds(nowMs)
  const warn = (message: string, fields: object) => log.warn(fields, message)

  const opening = openStorage({
    directory,
    nowMs,
    newId,
    traceEvents: config.ledgerDebug,
    onWarning: warn,
    onProgress: (projection, seq, headSeq) => log.debug({ projection, seq, headSeq }, 'catching up'),
    onVerified: (verification) => {
      if (verification.status === 'sound') log.info({ ...verification.head }, 'the whole ledger is sound')
      else log.error({ ...verification }, 'the ledger was not found sound')
    },
    onFatal: options.onFatal,
  })
  // Loaded while the storage thread makes ready.
  const [storage, { Kysely, SqliteDialect }] = await Promise.all([opening, import('kysely')])
  const { append, ledger, views } = storage
  await recordImport(ledger, append)
  const kysely = new Kysely<ViewsTables>({ dialect: new SqliteDialect({ database: views }) })
  const queries = openQueries(directory)
  const owner = openOwnerState({
    directory,
    environment: config.settings,
    append,
    hasFact: (key) => ledger.rowByKey(key) !== undefined,
    nowMs,
    newId,
    onWarning: warn,
  })
  const { settings } = owner
  options.onSettings(settings)
  const model = createModelHolder(modelSettings(settings), { limits: options.modelLimits ?? {} })
  settings.subscribe(() => model.configure(modelSettings(settings)))

  const vectors = openVectors(directory)
  const erasure = createErasure({
    storage,
    queries,
    turnEventSeqs: createTurnQueries(views).eventSeqs,
    forgetVectors: vectors.forget,
  })
  const adaptations = createAdaptations({ append, ledger, views, dataDir: directory })
  await adaptations.start()
  const timeline = createTimelineQueries(views, ledger)
  const placement = createPlacement({ append, views, newId })
  const previews = createPreviews()
  const catchUpSearch = storage.catchUpLagging
  const notes = createNotes({ append, ledger, views: kysely, catchUpSearch, newId })
  const memoryQueries = createMemoryQueries(views)
  const { repeatsBarred } = memoryQueries
  const timezone = () => settings.get('TIMEZONE')
  const onFault = (error: unknown) => log.error({ err: error }, 'a reactor failed')
  const timers = createTimers({
    append,
    ledger,
    views,
    onHeadMoved: storage.onHeadMoved,
    timezone,
    nowMs,
    newId,
    onFault,
  })

  const memory = buildMemory({
    storage,
    queries,
    directory,
    vectors,
    model: model.current,
    config: createMemoryConfig({
      load: () => owner.documents.document('memory'),
      save: (document) => owner.documents.writeDocument('memory', document),
    }),
    erase: erasure.erase,
    timezone,
    newId,
    nowMs,
    log,
  })
  const telephony = createTelephonyApi(settings)
  const proposals = createProposals({
    append,
    ledger,
    queries: createProposalQueries(views),
    placement,
    nowMs,
    newId,
  })
  const ownerNumbers = () => parseOwnerNumbers(settings.get('OWNER_PHONE_NUMBER') ?? '')
  const work = buildWork({
    config,
    storage,
    settings,
    placement,
    ownerNumber: () => ownerNumbers()[0] ?? '',
    pauses: options.outboundPauses,
    newId,
    nowMs,
    random: options.random,
    log,
  })
  const guests = createGuestQueries(storage, nowMs)
  const tools = [
    ...memory.tools,
    ...noteTools(notes),
    ...timerTools(timers),
    ...taskTools(work.tasks),
    ...timelineTools({ ledger, search: (query) => searchTimeline(query), repeatsBarred }),
    ...smsTools({
      append,
      propose: proposals.propose,
      ownerNumbers,
      isOptedOut: createTextQueries(views).isOptedOut,
      isConfigured: () => telephony.credentials() !== null && settings.get('TELEPHONY_PHONE_NUMBER') !== null,
    }),
  ]
  const { recall } = memory
  const budgets = createBudgets({ storage, limits: config.dailyLimits, nowMs })

  const assistant = buildAssistant({
    storage,
    settings,
    model: model.current,
    tools,
    notes,
    recall,
    placement,
    previews,
    adaptations: adaptations.forChannel,
    adaptationSeqs: adaptations.seqsInForce,
    newId,
    nowMs,
    random: options.random,
    log,
    budgets,
    traceItems: config.itemsDebug,
    guestWordSeqs: guests.wordSeqs,
  })
  const { attention } = assistant
  const chat = createChatChannel({
    append,
    ledger,
    placement,
    turnById: assistant.turns.byId,
    onHeadMoved: storage.onHeadMoved,
    newId,
  })
  const ending = createEnding({
    append,
    views,
    nowMs,
    isBusy: (spanId) => assistant.turns.unfinished().some((turn) => turn.spanId === spanId),
  })
  const idleWatch = createIdleWatch({
    append,
    ending,
    ledger,
    views,
    idleMs: () => settings.get('SESSION_IDLE_MINUTES') * 60_000,
    onFault,
  })
  const phone = await buildPhone({
    storage,
    settings,
    model: model.current,
    placement,
    recall,
    tools,
    instructions: () => assistant.instructions('voice'),
    adaptationIds: () => adaptations.forChannel('voice').map(({ id }) => id),
    guestsAnsweredInADay: guests.answeredInADay,
    budgets,
    guestWordSeqs: guests.wordSeqs,
    hangUpAtProvider: createHangUp(telephony),
    newId,
    nowMs,
    log,
  })
  const texts = buildTexts({
    storage,
    settings,
    placement,
    telephony,
    pauses: options.outboundPauses,
    turnById: assistant.turns.byId,
    unfinishedTurns: assistant.turns.unfinished,
    runGuestTurn: assistant.runGuestTurn,
    guestsAnsweredInADay: guests.answeredInADay,
    budgets,
    newId,
    nowMs,
    random: options.random,
    log,
  })
  const erasures = createErasures({
    append,
    ledger,
    wholeLedger: storage.wholeLedger,
    views,
    erasure,
    targetSeqs: createTargets({
      ledger,
      views: kysely,
      memories: memoryQueries,
      spanSeqs: timeline.spanSeqs,
      adaptationSeqs: adaptations.seqs,
    }),
    forgetMemory: (id) => memory.memories.forget(id, { by: 'owner', channel: 'system' }),
    removeAdaptationFiles: adaptations.removeFilesOf,
    onHeadMoved: storage.onHeadMoved,
    nowMs,
    newId,
    onFault,
  })
  const paging = createPagingCounters(new Date(nowMs()).toISOString())
  const report = createOperationsReport({
    views,
    sessionContext: assistant.sessionContext,
    paging,
    deduplication: memory.counters.read,
    nowMs,
  })

  const searchTimeline = (search: TimelineSearch) =>
    storage.catchUpLagging().then(() => queries.ask('searchTimeline', search))

  const http = await buildHttpService({
    config,
    owner,
    storage,
    kysely,
    timeline,
    paging,
    chat,
    previews,
    assistant,
    ending,
    erasure,
    erasures,
    placement,
    notes,
    memory,
    adaptations,
    timers,
    proposals,
    work,
    phone,
    texts,
    telephony,
    report,
    series: createOperationsSeries({ views, nowMs }),
    turnReport: createTurnReport({
      ledger,
      turnById: assistant.turns.byId,
      eventSeqs: assistant.turns.eventSeqs,
      memoryText: (id) => {
        const memory = memoryQueries.byId(id)
        return memory === undefined || isHidden(memory) ? null : memory.text
      },
      signalSeq: assistant.signalSeq,
    }),
    searchTimeline,
    model,
    log,
    logLines: options.logLines,
    projectDirectory: PROJECT_DIRECTORY,
    webDirectory: join(PROJECT_DIRECTORY, 'web/dist'),
    nowMs,
    newId,
  })

  queries.start(ledger.head().seq > 0)
  await phone.start()
  attention.start()
  texts.start()
  timers.start()
  memory.start()
  idleWatch.start()
  erasures.start()
  const port = await http.listen(config.port, config.host)
  work.start(port)

  return {
    port,
    setupCode: owner.account.isInstalled() ? null : owner.setupCode,
    async close() {
      http.drain()
      await phone.close(2_000)
      await idleWatch.close()
      await erasures.close()
      await timers.close()
      await Promise.all([work.close(), attention.close(GRACE_MS), texts.close(GRACE_MS)])
      await memory.close()
      await http.close(1_000)
      await queries.close()
      await storage.close()
      owner.close()
    },
  }
}

/** A default is for OpenAI's own API: another server is asked only for what was named. */
function modelSettings(settings: Settings): ModelSettings {
  const given = settings
    .entries()
    .filter((entry) => entry.source === 'stored' || entry.source === 'environment')
  const values: Partial<Record<string, string>> = {}
  for (const { key } of given) {
    const value = settings.get(key)
    if (value !== null) values[key] = String(value)
  }
  return values
}
