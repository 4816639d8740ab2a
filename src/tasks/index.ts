import { mkdirSync, realpathSync } from 'node:fs'
import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createOwnerQueries } from '../../projections/owner.ts'
import { createTaskQueries, type TaskRow } from '../../projections/tasks.ts'
import type { Config } from '../config.ts'
import type { Foundation, ServiceWaits } from '../foundation.ts'
import { type OutboundPauses, outboundPauses } from '../lib/backoff.ts'
import type { Log } from '../lib/log.ts'
import type { Mask } from '../lib/mask.ts'
import { createDeliveryOutbox } from '../outbound/outbox.ts'
import { liesOutside, WITHIN_REACH } from '../settings/outside-data.ts'
import type { Settings } from '../settings/settings.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { createAnnouncer } from './announcer.ts'
import { createCallback } from './callback.ts'
import { createTaskRunner } from './runner.ts'
import { createTaskFacts } from './task-facts.ts'
import { createTasks } from './tasks.ts'

/** The assistant's default directory. It is beside the data, so that `..` does not lead into it. */
const defaultDirectory = (dataDir: string) => `${dataDir}-work`
/** A shorter secret would also remove ordinary variables. */
const SHORTEST_SECRET_CHARS = 6

/** Wires tasks of the coding assistant, and the delivery of their outcomes. */
export function buildWork(options: {
  readonly config: Config
  readonly storage: Storage
  readonly settings: Settings
  readonly placement: Placement
  /** The owner's number for texts; empty if none is set. */
  readonly ownerNumber: () => string
  readonly pauses?: OutboundPauses | undefined
  readonly waits: Pick<ServiceWaits, 'taskKillGraceMs' | 'announceRetryMs'>
  readonly newId: () => string
  readonly nowMs: () => number
  readonly random: () => number
  readonly log: Log
  readonly faultsOf: Foundation['faultsOf']
  readonly mask: Mask
}) {
  const { config, storage, settings, nowMs } = options
  const { append, ledger, views, onHeadMoved } = storage
  const tasks = createTaskQueries(views)
  const deliveries = createDeliveryQueries(views)
  const owner = createOwnerQueries(views)
  const isHeld = () => owner.outboundHeld() !== undefined
  const onFault = options.faultsOf('tasks', 'a task or a delivery could not go on')
  let callbackUrl = ''

  const facts = createTaskFacts({
    append,
    placement: options.placement,
    tasks,
    deliveries,
    onHeadMoved,
    nowMs,
    onFault,
  })

  function directory(): string {
    const path = settings.get('COPILOT_WORKDIR') ?? defaultDirectory(config.dataDir)
    // Checked again, because the environment may set it and a link may have changed.
    if (!liesOutside(path, config.dataDir)) throw new Error(`COPILOT_WORKDIR ${WITHIN_REACH}.`)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return path
  }

  /** The service's own environment without its secrets. */
  function environment(): Record<string, string> {
    const secrets = settings.secretValues().filter(({ length }) => length >= SHORTEST_SECRET_CHARS)
    return Object.fromEntries(
      Object.entries(config.copilotEnvironment).filter(
        ([, value]) => !secrets.some((secret) => value.includes(secret)),
      ),
    )
  }

  function targetOf(channel: TaskRow['notify']): string {
    if (channel === 'sms') return options.ownerNumber()
    // A webhook's address may hold a token, so the ledger does not record it.
    return channel
  }

  const runner = createTaskRunner({
    append: facts.append,
    ledger,
    tasks,
    onHeadMoved,
    command: config.copilotCommand,
    environment,
    dataDir: realpathSync(config.dataDir),
    directory,
    callbackUrl: () => callbackUrl,
    limit: () => settings.get('TASK_LIMIT'),
    isHeld,
    mask: options.mask.text,
    nowMs,
    onFault,
    killGraceMs: options.waits.taskKillGraceMs,
  })
  settings.subscribe(() => runner.wake())

  const announcer = createAnnouncer({
    append: facts.append,
    ledger,
    tasks,
    deliveries,
    targetOf,
    onHeadMoved,
    newId: options.newId,
    onFault: options.faultsOf('announcements', 'the outcome of a task could not be announced'),
    retryMs: options.waits.announceRetryMs,
  })
  const api = createTasks({
    append: facts.append,
    ledger,
    tasks,
    deliveries,
    endProcess: runner.end,
    deliverAgain: announcer.deliverAgain,
    isConfigured: config.copilotCommand !== null,
    defaultChannel: () => settings.get('DELIVERY_CHANNEL'),
    timeoutMinutes: () => settings.get('TASK_TIMEOUT_MINUTES'),
  })
  const callback = createCallback({
    tasks,
    append: facts.append,
    outputOf: runner.outputOf,
    onEnded: runner.letGo,
    mask: options.mask.text,
    nowMs,
  })
  const outbox = createDeliveryOutbox({
    append,
    ledger,
    deliveries,
    onHeadMoved,
    webhook() {
      const url = settings.get('DELIVERY_WEBHOOK_URL')
      const secret = settings.get('DELIVERY_WEBHOOK_SECRET')
      return url === null || secret === null ? null : { url, secret }
    },
    describe(taskId) {
      const task = api.get(taskId)
      if (!task) return { taskId }
      const { title, status, kind, durationMs } = task
      return { event: `task.${status}`, taskId, title, status, kind, durationMs }
    },
    isHeld,
    pauses: options.pauses ?? outboundPauses,
    fetch,
    nowMs,
    random: options.random,
    onFault: options.faultsOf('deliveries', 'a delivery could not go on'),
    onFailedAttempt: (fields, message) => options.log.warn(fields, message),
  })

  return {
    tasks: api,
    callback,
    /** Call once the service listens, because the assistant reports to its port. */
    start(port: number): void {
      callbackUrl = `${localOrigin(config.host, port)}/api/copilot/callback`
      facts.start()
      runner.start()
      announcer.start()
      outbox.start()
    },
    async close(graceMs: number): Promise<void> {
      const untilMs = performance.now() + graceMs
      await runner.close()
      await announcer.close()
      await outbox.close(Math.max(0, untilMs - performance.now()))
      await facts.close()
    },
  }
}

/** The service's address on this machine. */
function localOrigin(host: string, port: number): string {
  const any = host === '0.0.0.0' || host === '::' || host === 'localhost'
  const name = any ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
