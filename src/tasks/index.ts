import { chownSync, mkdirSync, realpathSync } from 'node:fs'
import { createOwnerQueries } from '../../projections/owner.ts'
import type { TaskRow } from '../../projections/tasks.ts'
import type { Language } from '../language/languages.ts'
import { translated, translatedSentence } from '../language/msg.ts'
import type { Log } from '../lib/log.ts'
import type { Mask } from '../lib/mask.ts'
import type { Account } from '../lib/program.ts'
import { liesOutside, WITHIN_REACH } from '../settings/outside-data.ts'
import type { Settings } from '../settings/settings.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { createAnnouncer } from './announcer.ts'
import { createCallback } from './callback.ts'
import { createIsolation, type IsolationChoice, type IsolationState } from './isolation.ts'
import { createTaskRunner } from './runner.ts'
import { createTaskStore } from './task-store.ts'
import { createTasks } from './tasks.ts'
import { taskTools } from './tools.ts'

/** The assistant's default directory. It is beside the data, so that `..` does not lead into it. */
const defaultDirectory = (dataDir: string) => `${dataDir}-work`
/** A shorter secret would also remove ordinary variables. */
const SHORTEST_SECRET_CHARS = 6
/** Variables of the programs that store backups and of PostgreSQL. They often hold passwords and keys. */
const CREDENTIALS = /^(?:AWS_|PG[A-Z]|RCLONE_|RESTIC_)/

export type Tasks = ReturnType<typeof buildTasks>

/** Wires tasks of the coding assistant, and the announcement of their outcomes. */
export function buildTasks(options: {
  /** Null if there is no coding assistant. */
  readonly command: readonly string[] | null
  /** The environment of the coding assistant, without the service's own variables. */
  readonly assistantEnvironment: Readonly<Record<string, string>>
  /** TASK_ISOLATION and TASK_USER. */
  readonly isolation: { readonly choice: IsolationChoice; readonly user: string | null }
  /** The address that the service listens on. */
  readonly host: string
  /** The data directory. */
  readonly directory: string
  readonly storage: Storage
  readonly settings: Settings
  readonly placement: Placement
  /** The owner's number for texts; empty if none is set. */
  readonly ownerNumber: () => string
  readonly newId: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
  readonly language: () => Language
  readonly onAnnouncementFault: (error: unknown) => void
  readonly mask: Mask
  readonly log: Log
  readonly isHalted: () => boolean
  /** Whether a halt waits to be recorded. */
  readonly isHaltPending: () => boolean
}) {
  const { command, directory: dataDir, storage, settings } = options
  const { outboundHeld } = createOwnerQueries(storage.views)
  let callbackUrl = ''

  const store = createTaskStore(options)

  const isolation = createIsolation({ ...options.isolation, dataDir: realpathSync(dataDir), environment })

  function directory(account: Account | null): string {
    const byDefault = defaultDirectory(dataDir)
    const path = settings.get('COPILOT_WORKDIR') ?? byDefault
    // Checked again, because the environment may set it and a link may have changed.
    if (!liesOutside(path, dataDir)) throw new Error(`COPILOT_WORKDIR ${WITHIN_REACH}.`)
    const isNew = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined
    if (account !== null && (isNew || path === byDefault)) chownSync(path, account.uid, account.gid)
    return path
  }

  /** The service's environment without secrets and credentials. */
  function environment(): Record<string, string> {
    const secrets = settings.secretValues().filter(({ length }) => length >= SHORTEST_SECRET_CHARS)
    return Object.fromEntries(
      Object.entries(options.assistantEnvironment).filter(
        ([name, value]) => !CREDENTIALS.test(name) && !secrets.some((secret) => value.includes(secret)),
      ),
    )
  }

  /** Logs it at the start, so that it is known before the first task. */
  async function reportIsolation(): Promise<void> {
    const { way, reason, remedy } = await isolation()
    if (way === 'none' || way === null) options.log.warn({ reason, remedy }, 'tasks are not isolated')
    else options.log.info({ way }, 'tasks are isolated')
  }

  function targetOf(channel: TaskRow['notify']): string {
    if (channel === 'sms') return options.ownerNumber()
    // A webhook's address may hold a token, so the ledger does not record it.
    return channel
  }

  const runner = createTaskRunner({
    ...options,
    store,
    environment,
    dataDir: realpathSync(dataDir),
    directory,
    isolation,
    callbackUrl: () => callbackUrl,
    limit: () => settings.get('TASK_LIMIT'),
    isHeld: () => options.isHalted() || !options.storage.mayAct() || outboundHeld() !== undefined,
    mayAct: options.storage.mayAct,
    cancel: (taskId) => api.cancel(taskId, 'owner'),
    mask: options.mask.text,
  })
  settings.subscribe(() => runner.wake())

  const announcer = createAnnouncer({
    ...options,
    store,
    targetOf,
    onFault: options.onAnnouncementFault,
  })
  const api = createTasks({
    store,
    endProcess: runner.end,
    deliverAgain: announcer.deliverAgain,
    isConfigured: command !== null,
    defaultChannel: () => settings.get('DELIVERY_CHANNEL'),
    timeoutMinutes: () => settings.get('TASK_TIMEOUT_MINUTES'),
  })
  const callback = createCallback({
    ...options,
    store,
    outputOf: runner.outputOf,
    onEnded: runner.letGo,
    mask: options.mask.text,
  })
  return {
    tasks: api,
    tools: taskTools(api),
    /** Fields of a webhook about a task. */
    describe(taskId: string) {
      const task = api.get(taskId)
      if (!task) return { taskId }
      const { title, status, kind, durationMs } = task
      return { event: `task.${status}`, taskId, title, status, kind, durationMs }
    },
    callback,
    /** How tasks are isolated; null if there is no coding assistant. */
    async isolation(): Promise<IsolationState | null> {
      if (command === null) return null
      const { way, reason, remedy } = await isolation()
      return { way, reason: reason && translatedSentence(reason), remedy: remedy && translated(remedy) }
    },
    /** Call once the service listens, because the assistant reports to its port. */
    start(port: number): void {
      callbackUrl = `${localOrigin(options.host, port)}/api/copilot/callback`
      if (command !== null) reportIsolation().catch(options.onFault)
      store.start()
      runner.start()
      announcer.start()
    },
    async close(): Promise<void> {
      await runner.close()
      await announcer.close()
      await store.close()
    },
  }
}

/** The service's address on this machine. */
function localOrigin(host: string, port: number): string {
  const any = host === '0.0.0.0' || host === '::' || host === 'localhost'
  const name = any ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
