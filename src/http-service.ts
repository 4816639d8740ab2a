import Database from 'better-sqlite3'
import type { Kysely } from 'kysely'
import { createOwnerQueries } from '../projections/owner.ts'
import type { ProjectionStatus } from '../projections/projector.ts'
import type { ViewsTables } from '../projections/tables.ts'
import type { TimelineQueries } from '../projections/timeline-page.ts'
import { createTurnQueries } from '../projections/turns.ts'
import type { Adaptations } from './adaptations/adaptations.ts'
import { isModelFailure } from './agent/failure-text.ts'
import type { SpokenChannel } from './agent/instructions.ts'
import type { createTurnReport } from './agent/turn-report.ts'
import type { Assistant } from './assistant.ts'
import type { ChatChannel } from './channels/chat.ts'
import type { TelephonyApi } from './channels/telephony/api.ts'
import { checkTelephony } from './channels/telephony/check.ts'
import { parseOwnerNumbers } from './channels/telephony/party.ts'
import type { Config } from './config.ts'
import type { Ending } from './conversation/ending.ts'
import type { Placement } from './conversation/placement.ts'
import type { Previews } from './conversation/previews.ts'
import type { Erasure } from './forgetting/erasure.ts'
import type { Erasures } from './forgetting/erasures.ts'
import { readBuildInfo } from './http/build-info.ts'
import { createHttp } from './http/http.ts'
import { createIntrusionCounter } from './http/intrusion-counter.ts'
import { adaptationRoutes } from './http/routes/adaptations.ts'
import { callSocketRoute } from './http/routes/call-socket.ts'
import { callRoutes } from './http/routes/calls.ts'
import { chatRoutes } from './http/routes/chat.ts'
import { chatSocketReference, chatSocketRoute } from './http/routes/chat-socket.ts'
import { conversationRoutes } from './http/routes/conversations.ts'
import { erasureRoutes } from './http/routes/erasures.ts'
import type { ReadinessCheck } from './http/routes/health.ts'
import { memoryRoutes } from './http/routes/memories.ts'
import { notePageRoutes } from './http/routes/note-page.ts'
import { noteRoutes } from './http/routes/notes.ts'
import { operationRoutes } from './http/routes/operations.ts'
import { outboundRoutes } from './http/routes/outbound.ts'
import { proposalRoutes } from './http/routes/proposals.ts'
import { createProviderWebhooks } from './http/routes/provider-webhook.ts'
import { sessionRoutes } from './http/routes/session.ts'
import { smsRoutes } from './http/routes/sms.ts'
import { taskRoutes } from './http/routes/tasks.ts'
import { telephonyRoutes } from './http/routes/telephony.ts'
import { timelineRoutes } from './http/routes/timeline.ts'
import { timerRoutes } from './http/routes/timers.ts'
import { voiceMarkupRoutes } from './http/routes/voice-markup.ts'
import { walkieRoutes } from './http/routes/walkie.ts'
import { loadStaticFiles } from './http/static-files.ts'
import type { Log } from './log.ts'
import type { LogLines } from './log-lines.ts'
import type { Memory } from './memory-service.ts'
import type { ModelHolder } from './model/service.ts'
import type { Notes } from './notes/notes.ts'
import { createNoteRenderer } from './notes/renderer.ts'
import type { PagingCounters } from './operations/paging-counters.ts'
import type { createOperationsReport, createOperationsSeries } from './operations/report.ts'
import type { Phone } from './phone.ts'
import type { Proposals } from './proposals/proposals.ts'
import type { OwnerState } from './settings/open.ts'
import type { Storage } from './storage/storage.ts'
import type { Verification } from './storage/verification.ts'
import type { Texts } from './texts.ts'
import type { Timers } from './timers/timers.ts'
import type { Work } from './work.ts'

export type HttpServiceOptions = {
  readonly config: Config
  readonly owner: OwnerState
  readonly storage: Storage
  readonly kysely: Kysely<ViewsTables>
  readonly timeline: TimelineQueries
  readonly paging: PagingCounters
  readonly chat: ChatChannel
  readonly previews: Previews
  readonly assistant: Assistant
  readonly ending: Ending
  readonly erasure: Erasure
  readonly erasures: Erasures
  readonly placement: Placement
  readonly notes: Notes
  readonly memory: Memory
  readonly adaptations: Adaptations
  readonly timers: Timers
  readonly proposals: Proposals
  readonly work: Work
  readonly phone: Phone
  readonly texts: Texts
  readonly telephony: TelephonyApi
  readonly report: ReturnType<typeof createOperationsReport>
  readonly series: ReturnType<typeof createOperationsSeries>
  readonly turnReport: ReturnType<typeof createTurnReport>
  readonly searchTimeline: Parameters<typeof timelineRoutes>[0]['search']
  readonly model: ModelHolder
  readonly log: Log
  readonly logLines: LogLines
  readonly projectDirectory: string
  readonly webDirectory: string
  readonly nowMs: () => number
  readonly newId: () => string
}

export type HttpService = {
  listen(port: number, host: string): Promise<number>
  /** From now on `/ready` says no, and the streams end. */
  drain(): void
  close(graceMs: number): Promise<void>
}

/** The service's face, wired: access, routes, sockets, static files. */
export async function buildHttpService(options: HttpServiceOptions): Promise<HttpService> {
  const { owner, storage, timeline, paging, assistant, ending, placement, model, log, nowMs, newId } = options
  const { settings } = owner
  const { attention, compactor } = assistant
  const stopping = new AbortController()
  const [staticFiles, buildInfo] = await Promise.all([
    loadStaticFiles(options.webDirectory),
    readBuildInfo(options.projectDirectory),
  ])
  const intrusions = createIntrusionCounter({
    append: storage.append,
    nowMs,
    onWarning: (message, fields) => log.warn(fields, message),
  })
  const pageEvents = () => settings.get('TIMELINE_PAGE_EVENTS')

  const turns = createTurnQueries(storage.views)
  const webhooks = createProviderWebhooks({ settings, intrusions, devRoutes: options.config.devRoutes })
  const { phone } = options

  /** None where the views cannot be read, as while they are damaged or made anew: that is said of them. */
  function lastEndedTurn() {
    try {
      return turns.lastEnded()
    } catch (error) {
      if (error instanceof Database.SqliteError) return undefined
      throw error
    }
  }

  async function readiness() {
    const last = lastEndedTurn()
    const { projections, ledgerError, viewsError, viewsDamage, verification } = await storage.status()
    const { provider, model: name } = model.answering()
    const failure = last?.status === 'failed' && isModelFailure(last.kind) ? last.kind : null
    return {
      ledger: ledgerCheck(ledgerError, verification),
      projections: projectionsCheck(
        viewsError === null ? viewsDamage && 'damaged' : 'cannot be written',
        projections,
      ),
      reactors: stopping.signal.aborted ? { ok: false, detail: 'stopping' } : { ok: true },
      // Reported by what it last did: asking it only to see would cost the owner money.
      model: {
        ok: failure === null,
        detail: `${provider}/${name}${failure === null ? '' : `: the last turn failed (${failure})`}`,
      },
    }
  }

  const renderer = createNoteRenderer()

  /** What the model is told on a channel, to the letter. */
  function told(channel: SpokenChannel): string {
    if (channel === 'voice') return phone.instructions()
    const instructions = assistant.instructions(channel)
    return model.current().text.told?.(instructions) ?? instructions
  }

  const modules = [
    chatSocketReference(),
    chatRoutes({ chat: options.chat, previews: options.previews, stop: attention.stop }),
    timelineRoutes({
      timeline,
      ledger: storage.ledger,
      paging,
      pageEvents,
      search: options.searchTimeline,
      nowMs: options.nowMs,
      timezone: () => settings.get('TIMEZONE'),
      erase: options.erasure.erase,
    }),
    conversationRoutes({
      views: options.kysely,
      timeline,
      paging,
      pageEvents,
      endConversation: ending.endConversation,
    }),
    memoryRoutes({
      api: options.memory.api,
      forget: (id) => options.memory.memories.forget(id, { by: 'owner', channel: 'system' }),
      restore: (id) => options.memory.memories.restore(id, { by: 'owner', channel: 'system' }),
      config: options.memory.config.get,
      changeConfig: options.memory.changeConfig,
    }),
    erasureRoutes({ erasures: options.erasures }),
    noteRoutes({ notes: options.notes }),
    adaptationRoutes({ adaptations: options.adaptations, instructions: told }),
    notePageRoutes({ notes: options.notes, renderer, timezone: () => settings.get('TIMEZONE'), staticFiles }),
    outboundRoutes({ append: storage.append, held: createOwnerQueries(storage.views).outboundHeld }),
    proposalRoutes({ proposals: options.proposals }),
    timerRoutes({ timers: options.timers, timezone: () => settings.get('TIMEZONE') }),
    taskRoutes({ tasks: options.work.tasks, callback: options.work.callback }),
    sessionRoutes({
      sessionContext: assistant.sessionContext,
      turnReport: options.turnReport,
      compact: (conversationId) =>
        attention.exclusively((signal) => compactor.compact(conversationId, 'manual', signal)),
      isTurnRunning: assistant.isTurnRunning,
      refuseBusy: compactor.refuseBusy,
      openConversationId: placement.openConversationId,
    }),
    operationRoutes({ report: options.report, series: options.series }),
    voiceMarkupRoutes({
      webhooks,
      reception: phone.reception,
      callEnded: phone.callEnded,
      recordStatus: phone.recordStatus,
      newId,
    }),
    telephonyRoutes({
      client: options.telephony.client,
      number: () => settings.get('TELEPHONY_PHONE_NUMBER'),
      publicUrl: () => settings.get('PUBLIC_URL'),
      applicationSid: () => settings.get('TELEPHONY_APP_SID'),
    }),
    smsRoutes({ webhooks, texts: options.texts }),
    callRoutes({ hangUp: phone.hangUp, current: phone.live.current }),
    ...(options.config.devRoutes
      ? [
          walkieRoutes({
            chat: options.chat,
            speech: () => model.current().speech,
            stopping: stopping.signal,
            nowMs,
          }),
        ]
      : []),
  ]
  const server = createHttp({
    ownerState: owner,
    modules,
    socketRoutes: [
      chatSocketRoute({
        ledger: storage.ledger,
        follow: storage.follow,
        timeline,
        paging,
        pageEvents,
        previews: options.previews,
        calls: phone.live,
        chat: options.chat,
        stop: attention.stop,
        endConversation: ending.endConversation,
        log,
      }),
      callSocketRoute({ accept: phone.accept, webhooks, intrusions }),
    ],
    intrusions,
    readiness,
    testConnection: async (service, signal) => {
      if (service === 'model') return copyOf(await model.current().check(signal))
      return checkTelephony({
        client: options.telephony.client,
        number: settings.get('TELEPHONY_PHONE_NUMBER'),
        applicationSid: settings.get('TELEPHONY_APP_SID'),
        publicUrl: settings.get('PUBLIC_URL'),
        ownerNumbers: parseOwnerNumbers(settings.get('OWNER_PHONE_NUMBER') ?? ''),
        realtimeModel: model.current().realtime?.model ?? null,
        fetch,
        signal,
      })
    },
    buildInfo,
    staticFiles,
    log,
    logLines: options.logLines,
    stopping: stopping.signal,
    newId,
    monotonicMs: () => performance.now(),
  })

  return {
    listen: server.listen,
    drain: () => stopping.abort(),
    async close(graceMs) {
      await server.close(graceMs)
      await renderer.close()
      await intrusions.close()
    },
  }
}

/** Sound as far as it has been walked since the start. */
function ledgerCheck(error: string | null, verification: Verification): ReadinessCheck {
  if (error !== null) return { ok: false, detail: 'cannot be written' }
  if (verification.status !== 'damaged') return { ok: true }
  return { ok: false, detail: `damaged at event ${verification.seq ?? 'unknown'}` }
}

function projectionsCheck(fault: string | null, projections: readonly ProjectionStatus[]): ReadinessCheck {
  if (fault !== null) return { ok: false, detail: fault }
  const stalled = projections.filter(({ error }) => error !== null).map(({ name }) => name)
  return stalled.length > 0 ? { ok: false, detail: `stalled: ${stalled.join(', ')}` } : { ok: true }
}

function copyOf(check: { ok: boolean; steps: readonly { name: string; ok: boolean; detail: string }[] }) {
  return { ok: check.ok, steps: [...check.steps] }
}
