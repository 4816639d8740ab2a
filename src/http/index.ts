import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createOwnerQueries } from '../../projections/owner.ts'
import type { SpokenChannel } from '../agent/context/instructions.ts'
import type { Foundation } from '../foundation.ts'
import { createNoteRenderer } from '../notes/renderer.ts'
import { buildReadiness } from '../operations/readiness/build.ts'
import type { Parts } from '../parts.ts'
import { checkTelephony } from '../phone/line/check.ts'
import { ownerNumbersOf } from '../settings/party.ts'
import { adaptationRoutes } from './routes/adaptations.ts'
import { callSocketRoute } from './routes/call-socket.ts'
import { callRoutes } from './routes/calls.ts'
import { chatRoutes } from './routes/chat.ts'
import { chatSocketReference, chatSocketRoute } from './routes/chat-socket.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { erasureRoutes } from './routes/erasures.ts'
import { memoryRoutes } from './routes/memories.ts'
import { notePageRoutes } from './routes/note-page.ts'
import { noteRoutes } from './routes/notes.ts'
import { operationRoutes } from './routes/operations.ts'
import { outboundRoutes } from './routes/outbound.ts'
import { proposalRoutes } from './routes/proposals.ts'
import { createProviderWebhooks } from './routes/provider-webhook.ts'
import { sessionRoutes } from './routes/session.ts'
import { smsRoutes } from './routes/sms.ts'
import { taskRoutes } from './routes/tasks.ts'
import { telephonyRoutes } from './routes/telephony.ts'
import { timelineRoutes } from './routes/timeline.ts'
import { timerRoutes } from './routes/timers.ts'
import { voiceMarkupRoutes } from './routes/voice-markup.ts'
import { walkieRoutes } from './routes/walkie.ts'
import { readBuildInfo } from './server/build-info.ts'
import { createHttp } from './server/http.ts'
import { createIntrusionCounter } from './server/intrusion-counter.ts'
import { loadStaticFiles } from './server/static-files.ts'

export type HttpService = {
  listen(port: number, host: string): Promise<number>
  /** Makes `/ready` fail and ends the streams. */
  drain(): void
  close(graceMs: number): Promise<void>
}

const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url))

/** Wires the HTTP layer: access, routes, sockets, static files. */
export async function buildHttpService(foundation: Foundation, parts: Parts): Promise<HttpService> {
  const { config, owner, settings, storage, kysely, timezone, model, log, nowMs, newId } = foundation
  const { assistant, chat, ending, paging, phone, placement, previews, telephony, timeline } = parts
  const { attention, compactor } = assistant
  const stopping = new AbortController()
  const [staticFiles, buildInfo] = await Promise.all([
    loadStaticFiles(join(PROJECT_DIRECTORY, 'web/dist')),
    readBuildInfo(PROJECT_DIRECTORY),
  ])
  const intrusions = createIntrusionCounter({
    append: storage.append,
    nowMs,
    onWarning: (message, fields) => log.warn(fields, message),
  })
  const pageEvents = () => settings.get('TIMELINE_PAGE_EVENTS')

  const webhooks = createProviderWebhooks({ settings, intrusions, devRoutes: config.devRoutes })

  const readiness = buildReadiness(foundation, parts, stopping.signal)

  const renderer = createNoteRenderer({
    limitMs: foundation.waits.renderNoteMs,
    onFailure: foundation.onThreadFailure,
  })

  /** The exact instructions for the model on a channel. */
  function instructionsFor(channel: SpokenChannel): string {
    if (channel === 'voice') return phone.instructions()
    const instructions = assistant.instructions(channel)
    return model().text.asSent?.(instructions) ?? instructions
  }

  const modules = [
    chatSocketReference(),
    chatRoutes({ chat, previews, stop: attention.stop }),
    timelineRoutes({
      timeline,
      ledger: storage.ledger,
      paging,
      pageEvents,
      search: timeline.search,
      nowMs,
      timezone,
      eraseNow: parts.erasures.eraseNow,
    }),
    conversationRoutes({
      views: kysely,
      timeline,
      paging,
      pageEvents,
      endConversation: ending.endConversation,
    }),
    memoryRoutes({
      api: parts.memory.api,
      forget: async (id) => 'erased' in (await parts.erasures.eraseNow({ kind: 'memory', id })),
      restore: (id) => parts.memory.memories.restore(id, { by: 'owner', channel: 'system' }),
      config: parts.memory.config.get,
      changeConfig: parts.memory.changeConfig,
    }),
    erasureRoutes({ erasures: parts.erasures }),
    noteRoutes({ notes: parts.notes }),
    adaptationRoutes({ adaptations: parts.adaptations, instructions: instructionsFor }),
    notePageRoutes({ notes: parts.notes, renderer, timezone, staticFiles }),
    outboundRoutes({
      append: storage.append,
      held: createOwnerQueries(storage.views).outboundHeld,
      waitingTexts: parts.texts.waiting,
      sendAgain: parts.texts.sendAgain,
    }),
    proposalRoutes({ proposals: parts.proposals }),
    timerRoutes({ timers: parts.timers, timezone }),
    taskRoutes({ tasks: parts.work.tasks, callback: parts.work.callback }),
    sessionRoutes({
      sessionContext: assistant.sessionContext,
      turnReport: parts.turnReport,
      compact: (conversationId) =>
        attention.exclusively((signal) => compactor.compact(conversationId, 'manual', signal)),
      isTurnRunning: assistant.isTurnRunning,
      refuseBusy: compactor.refuseBusy,
      openConversationId: placement.openConversationId,
    }),
    operationRoutes({ report: parts.report, series: parts.series }),
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
    smsRoutes({ webhooks, texts: parts.texts, intrusions }),
    callRoutes({ hangUp: phone.hangUp, current: phone.live.current }),
    ...(config.devRoutes
      ? [
          walkieRoutes({
            chat,
            speech: () => model().speech,
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
        previews,
        calls: phone.live,
        chat,
        stop: attention.stop,
        endConversation: ending.endConversation,
        log,
        onFault: storage.reportFault,
      }),
      callSocketRoute({ accept: phone.accept, webhooks, intrusions }),
    ],
    intrusions,
    health: readiness.check,
    testConnection: async (service, signal) => {
      if (service === 'model') return copyOf(await model().check(signal))
      return checkTelephony({
        client: telephony.client,
        number: settings.get('TELEPHONY_PHONE_NUMBER'),
        applicationSid: settings.get('TELEPHONY_APP_SID'),
        publicUrl: settings.get('PUBLIC_URL'),
        ownerNumbers: ownerNumbersOf(settings),
        realtimeModel: model().realtime?.model ?? null,
        fetch,
        signal,
      })
    },
    buildInfo,
    staticFiles,
    log,
    logLines: foundation.logLines,
    onFault: storage.reportFault,
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
      await readiness.close()
    },
  }
}

function copyOf(check: { ok: boolean; steps: readonly { name: string; ok: boolean; detail: string }[] }) {
  return { ok: check.ok, steps: [...check.steps] }
}
