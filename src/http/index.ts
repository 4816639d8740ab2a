import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkTelephony } from '../phone/line/check.ts'
import { ownerNumbersOf } from '../settings/party.ts'
import { type HttpOptions, routeModules } from './route-modules.ts'
import { callSocketRoute } from './routes/call-socket.ts'
import { chatSocketRoute } from './routes/chat-socket.ts'
import { createProviderWebhooks } from './routes/provider-webhook.ts'
import type { TestConnection } from './routes/settings.ts'
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
export async function buildHttp(options: HttpOptions): Promise<HttpService> {
  const { agent, operations, owner, phone, storage, telephony, timeline, log, nowMs, newId } = options
  const { settings } = owner
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
  const webhooks = createProviderWebhooks({ settings, intrusions, devRoutes: options.devRoutes })
  const readiness = operations.readiness({
    directory: options.directory,
    isStopping: () => stopping.signal.aborted,
    isLearningStalled: options.memory.isStalled,
    answering: options.answering,
    hasTelephony: () => telephony.credentials() !== null,
  })
  const shared = {
    intrusions,
    webhooks,
    staticFiles,
    stopping: stopping.signal,
    pageEvents: () => settings.get('TIMELINE_PAGE_EVENTS'),
  }
  const server = createHttp({
    ownerState: owner,
    modules: routeModules(options, shared),
    socketRoutes: [
      chatSocketRoute({
        ledger: storage.ledger,
        follow: storage.follow,
        timeline,
        paging: operations.paging,
        pageEvents: shared.pageEvents,
        previews: agent.previews,
        calls: phone.live,
        chat: agent.chat,
        stop: agent.attention.stop,
        endConversation: agent.endConversation,
        log,
        onFault: storage.reportFault,
      }),
      callSocketRoute({ accept: phone.accept, webhooks, intrusions }),
    ],
    intrusions,
    health: readiness.check,
    testConnection: connectionTest(options),
    buildInfo,
    staticFiles,
    log,
    logLines: options.logLines,
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
      await intrusions.close()
      await readiness.close()
    },
  }
}

/** Tests a service with its current settings. */
function connectionTest({ model, telephony, owner: { settings } }: HttpOptions): TestConnection {
  return async (service, signal) => {
    if (service === 'model') {
      const { ok, steps } = await model().check(signal)
      return { ok, steps: [...steps] }
    }
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
  }
}
