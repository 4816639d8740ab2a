import type { Kysely } from 'kysely'
import { createOwnerQueries } from '../../projections/owner.ts'
import type { ViewsTables } from '../../projections/tables.ts'
import type { Adaptations } from '../adaptations/index.ts'
import type { SpokenChannel } from '../agent/context/instructions.ts'
import type { Agent } from '../agent/index.ts'
import type { Erasures } from '../erasing/erasures.ts'
import type { Log } from '../lib/log.ts'
import type { LogLines } from '../lib/log-lines.ts'
import type { Memory } from '../memory/index.ts'
import type { ModelId, ModelService } from '../model/port.ts'
import type { Notes } from '../notes/notes.ts'
import type { NoteRenderer } from '../notes/renderer.ts'
import type { Operations } from '../operations/index.ts'
import type { Outbound } from '../outbound/index.ts'
import type { Phone } from '../phone/index.ts'
import type { TelephonyApi } from '../phone/line/api.ts'
import type { OwnerState } from '../settings/index.ts'
import type { Texts } from '../sms/index.ts'
import type { Storage } from '../storage/storage.ts'
import type { Tasks } from '../tasks/index.ts'
import type { Timeline } from '../timeline/index.ts'
import type { Timers } from '../timers/timers.ts'
import { adaptationRoutes } from './routes/adaptations.ts'
import { callRoutes } from './routes/calls.ts'
import { chatRoutes } from './routes/chat.ts'
import { chatSocketReference } from './routes/chat-socket.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { erasureRoutes } from './routes/erasures.ts'
import { memoryRoutes } from './routes/memories.ts'
import { notePageRoutes } from './routes/note-page.ts'
import { noteRoutes } from './routes/notes.ts'
import { operationRoutes } from './routes/operations.ts'
import { outboundRoutes } from './routes/outbound.ts'
import { proposalRoutes } from './routes/proposals.ts'
import type { ProviderWebhooks } from './routes/provider-webhook.ts'
import { sessionRoutes } from './routes/session.ts'
import { smsRoutes } from './routes/sms.ts'
import { taskRoutes } from './routes/tasks.ts'
import { telephonyRoutes } from './routes/telephony.ts'
import { timelineRoutes } from './routes/timeline.ts'
import { timerRoutes } from './routes/timers.ts'
import { voiceMarkupRoutes } from './routes/voice-markup.ts'
import { walkieRoutes } from './routes/walkie.ts'
import type { IntrusionCounter } from './server/intrusion-counter.ts'
import type { StaticFiles } from './server/static-files.ts'

export type HttpOptions = {
  readonly storage: Storage
  readonly kysely: Kysely<ViewsTables>
  readonly owner: OwnerState
  readonly model: () => ModelService
  readonly agent: Agent
  readonly memory: Memory
  readonly erasures: Erasures
  readonly timeline: Timeline
  readonly adaptations: Adaptations
  readonly notes: Notes & { readonly renderer: NoteRenderer }
  readonly timers: Timers
  readonly tasks: Tasks
  readonly telephony: TelephonyApi
  readonly phone: Phone
  readonly texts: Texts
  readonly outbound: Outbound
  readonly operations: Operations
  readonly openConversationId: () => string | undefined
  /** The model in use, for readiness. */
  readonly answering: () => ModelId
  readonly directory: string
  readonly devRoutes: boolean
  readonly nowMs: () => number
  readonly newId: () => string
  readonly log: Log
  readonly logLines: LogLines
}

/** What the routes share with the sockets. */
export type SharedByRoutes = {
  readonly intrusions: IntrusionCounter
  readonly webhooks: ProviderWebhooks
  readonly staticFiles: StaticFiles
  readonly pageEvents: () => number
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal
}

/** The routes of all features. */
export function routeModules(options: HttpOptions, shared: SharedByRoutes) {
  const { agent, erasures, memory, model, notes, operations, phone, storage } = options
  const { telephony, texts, timeline, nowMs, newId } = options
  const { settings } = options.owner
  const { chat, previews } = agent
  const { paging } = operations
  const { intrusions, webhooks, staticFiles, pageEvents, stopping } = shared
  const timezone = () => settings.get('TIMEZONE')

  /** The exact instructions for the model on a channel. */
  function instructionsFor(channel: SpokenChannel): string {
    if (channel === 'voice') return phone.instructions()
    const instructions = agent.instructions(channel)
    return model().text.asSent?.(instructions) ?? instructions
  }

  return [
    chatSocketReference(),
    chatRoutes({ chat, previews, stop: agent.attention.stop }),
    timelineRoutes({
      timeline,
      ledger: storage.ledger,
      paging,
      pageEvents,
      search: timeline.search,
      nowMs,
      timezone,
      eraseNow: erasures.eraseNow,
    }),
    conversationRoutes({
      views: options.kysely,
      timeline,
      paging,
      pageEvents,
      endConversation: agent.endConversation,
    }),
    memoryRoutes({
      api: memory.api,
      forget: async (id) => 'erased' in (await erasures.eraseNow({ kind: 'memory', id })),
      restore: (id) => memory.memories.restore(id, { by: 'owner', channel: 'system' }),
      config: memory.config.get,
      changeConfig: memory.changeConfig,
    }),
    erasureRoutes({ erasures }),
    noteRoutes({ notes }),
    adaptationRoutes({ adaptations: options.adaptations, instructions: instructionsFor }),
    notePageRoutes({ notes, renderer: notes.renderer, timezone, staticFiles }),
    outboundRoutes({
      append: storage.append,
      held: createOwnerQueries(storage.views).outboundHeld,
      waitingTexts: options.outbound.waitingTexts,
      sendAgain: options.outbound.sendAgain,
    }),
    proposalRoutes({ proposals: agent.proposals }),
    timerRoutes({ timers: options.timers, timezone }),
    taskRoutes({ tasks: options.tasks.tasks, callback: options.tasks.callback }),
    sessionRoutes({
      sessionContext: agent.sessionContext,
      turnReport: agent.turnReport,
      compact: (conversationId) =>
        agent.attention.exclusively((signal) => agent.compactor.compact(conversationId, 'manual', signal)),
      isTurnRunning: agent.isTurnRunning,
      refuseBusy: agent.compactor.refuseBusy,
      openConversationId: options.openConversationId,
    }),
    operationRoutes({
      report: operations.report({
        capsule: () => agent.sessionContext().capsule,
        deduplication: memory.counters.read,
      }),
      series: operations.series,
    }),
    voiceMarkupRoutes({
      intrusions,
      webhooks,
      reception: phone.reception,
      callEnded: phone.callEnded,
      recordStatus: phone.recordStatus,
      newId,
    }),
    telephonyRoutes({
      client: telephony.client,
      number: () => settings.get('TELEPHONY_PHONE_NUMBER'),
      publicUrl: () => settings.get('PUBLIC_URL'),
      applicationSid: () => settings.get('TELEPHONY_APP_SID'),
    }),
    smsRoutes({ webhooks, texts, intrusions }),
    callRoutes({ hangUp: phone.hangUp, current: phone.live.current }),
    ...(options.devRoutes
      ? [
          walkieRoutes({
            chat,
            speech: () => model().speech,
            stopping,
            nowMs,
          }),
        ]
      : []),
  ]
}
