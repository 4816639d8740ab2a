import { rmSync } from 'node:fs'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Draft } from '../../ledger/codec.ts'
import { InvalidEvent, LedgerUnavailable } from '../../ledger/errors.ts'
import type { EventArea } from '../../ledger/events/catalogue.ts'
import { incomingDirectory, makeDirectory } from '../../ledger/files.ts'
import { createIds } from '../../ledger/ids.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import { describeBuild, recordBuild } from './build.ts'
import { areasOf } from './head-listeners.ts'
import type {
  AppendRequest,
  OpeningProgress,
  StorageAnswer,
  StorageMessage,
  StorageRequest,
  StorageThreadData,
} from './messages.ts'
import { EngineRefused } from './postgres/options.ts'
import { traceToStderr } from './trace.ts'
import { prepareUpgrade } from './upgrade.ts'
import { openWriter } from './writer.ts'

/** Events per idle step of the lagging projections: under a millisecond, so that appends hardly wait. */
const LAGGING_BATCH_EVENTS = 100
/** Idle work begins after this long without a request. */
const IDLE_MS = 25
/** Delay of a retry after a full disk or a blocked log; doubles each time. */
const RETRY_MS = 50
const MAX_RETRY_MS = 5000
/** How long an erasure waits for readers of the log before it is reported as unfinished. */
const ERASURE_WAIT_MS = 10_000
/** How often to check that the log is still in place. */
const LOG_CHECK_MS = 1000

const NOTHING: ReadonlySet<EventArea> = new Set()

type Port = NonNullable<typeof parentPort>

type WaitingRequest = Exclude<StorageRequest, { name: 'status' }>

/** An answer that waits for the views or the files. */
type Held = { readonly isDue: () => boolean; readonly send: () => void }

/** The storage thread's main function: receives requests, groups appends into commits, and answers. */
async function run(port: Port, data: StorageThreadData): Promise<void> {
  const send = (message: StorageMessage) => port.postMessage(message)
  const warn = (message: string, fields: Record<string, unknown>) =>
    send({ kind: 'warning', message, fields })
  const notice = (message: string, fields: Record<string, unknown>) =>
    send({ kind: 'notice', message, fields })
  const onProgress = (progress: OpeningProgress) => send({ kind: 'opening', progress })
  const die = (error: Error) =>
    void setImmediate(() => {
      throw error
    })
  makeDirectory(data.directory)
  const lock = lockDirectory(data.directory)
  const newId = createIds(Date.now)
  const { directory, postgres, upgrade } = data
  const build = upgrade && describeBuild(upgrade.build)
  // In `commit` mode every start is that of a standby, and PostgreSQL holds the ledger.
  const isCopy = postgres?.mode === 'commit'
  const mayBackUp = upgrade?.withoutBackup === false && !isCopy
  try {
    if (build) await prepareUpgrade({ ...upgrade, build, directory, mayBackUp, onProgress, notice })
  } catch (error) {
    // A refusal leaves no journal of the lock behind.
    lock.release()
    throw error
  }
  // Loaded only if it is used.
  const engines = postgres && (await import('./postgres/engine.ts'))
  const writer = openWriter({
    directory,
    mayLackEnd: isCopy,
    newId: postgres && engines ? await engines.ledgerIdFor(postgres, directory, newId) : newId,
    warn,
    onViewsMoved: () => send({ kind: 'answers', answers: [], moved: null }),
    onProgress,
    notice,
    trace: data.traceEvents ? traceToStderr : undefined,
  })
  if (!postgres && writer.ledger.meta('engine') === 'commit') throw new EngineRefused(COMMITTED_ELSEWHERE)
  if (build) recordBuild(directory, build)
  // Left by an interrupted restore or import. Erasures would not reach it.
  rmSync(incomingDirectory(directory), { recursive: true, force: true })
  const engine =
    postgres && engines ? await engines.openEngine(postgres, { writer, directory, send, warn, die }) : null
  send({ kind: 'ready' })

  const logCheck = setInterval(() => {
    const lost = writer.ledger.saveLostLog()
    // Restart instead of continuing: every reader would have to reopen the file.
    if (lost?.isSaved) throw new LedgerUnavailable(lost.message)
  }, LOG_CHECK_MS)

  let held: Held[] = []
  let deferred: Disposable = setTimeout(work, IDLE_MS)
  let retryMs = RETRY_MS

  function answer(id: number, result: unknown, moved: ReadonlySet<EventArea> | null = NOTHING): void {
    send({ kind: 'answers', answers: [{ id, result }], moved })
  }

  function sendDue(): void {
    held = held.filter((each) => {
      if (!each.isDue()) return true
      each.send()
      return false
    })
  }

  /** Runs one step of deferred work, so that an append never waits for more than a step. */
  function work(): void {
    const hasMore = writer.step(LAGGING_BATCH_EVENTS)
    sendDue()
    const isSettled = writer.isSettled()
    // After the pending messages. A timer would be at least a millisecond late.
    if (hasMore) deferred = setImmediate(work)
    else if (!isSettled) deferred = setTimeout(work, retryMs)
    if (!hasMore) retryMs = isSettled ? RETRY_MS : Math.min(retryMs * 2, MAX_RETRY_MS)
  }

  /** Durable once it resolves. Nothing else may use the writer until then. */
  const commit = (batches: readonly (readonly Draft[])[]) =>
    engine ? engine.commit(batches) : writer.commit(batches)

  /**
   * Commits appends that arrived together. Answers once the views have the facts: earlier, the attention would
   * start the same turn again.
   */
  async function append(appends: readonly AppendRequest[]): Promise<void> {
    const { fresh: group = [], stale = [] } = Object.groupBy(appends, (request) =>
      isStale(request) ? 'stale' : 'fresh',
    )
    for (const { id } of stale) refuse(id, new LedgerUnavailable(STALE))
    if (group.length === 0) return
    try {
      const outcomes = await commit(group.map(({ args }) => args))
      const headSeq = writer.ledger.head().seq
      const answers = group.flatMap(({ id, args }, index): StorageAnswer[] => {
        const outcome = outcomes[index]
        if (outcome?.status === 'rejected') return [failureOf(id, new InvalidEvent(outcome.error.message))]
        if (outcome?.status !== 'appended') return [{ id, result: outcome }]
        return [{ id, result: { ...outcome, rows: outcome.rows.slice(0, args.length) } }]
      })
      const moved = areasOf(outcomes.flatMap((each) => (each.status === 'appended' ? each.rows : [])))
      held.push({
        isDue: () => writer.viewsSeq() >= headSeq,
        send: () => send({ kind: 'answers', answers, moved }),
      })
    } catch (error) {
      send({ kind: 'answers', answers: group.map(({ id }) => failureOf(id, error)), moved: NOTHING })
    }
  }

  async function erase(request: Extract<StorageRequest, { name: 'erase' }>): Promise<void> {
    const { id, args: erasure } = request
    if (isStale(request)) return refuse(id, new LedgerUnavailable(STALE))
    try {
      const { batch, withBody } = writer.erasure(erasure)
      const [outcome] = await commit([batch])
      if (outcome?.status === 'rejected') throw outcome.error
      const untilMs = performance.now() + ERASURE_WAIT_MS
      held.push({
        isDue: () => writer.isSettled() || performance.now() > untilMs,
        send() {
          if (writer.isSettled()) answer(id, withBody, null)
          else
            send({ kind: 'answers', answers: [failureOf(id, new LedgerUnavailable(UNSETTLED))], moved: null })
        },
      })
    } catch (error) {
      refuse(id, error)
    }
  }

  /** Whether it was made from views that lacked what PostgreSQL has. Repeating it could do something twice. */
  const isStale = ({ generation }: StorageRequest) => generation !== (engine?.generation() ?? 0)

  function refuse(id: number, error: unknown): void {
    send({ kind: 'answers', answers: [failureOf(id, error)], moved: NOTHING })
  }

  /** Nothing waits for it: in `follow` mode, appends go on while PostgreSQL does not answer. */
  async function answerErased(id: number): Promise<void> {
    const unknown = { erased: false, nodes: [] }
    answer(id, engine ? await engine.erasedElsewhere().catch(() => unknown) : null)
  }

  async function close(id: number): Promise<void> {
    clearInterval(logCheck)
    for (const each of held) each.send()
    held = []
    await engine?.close()
    writer.close()
    lock.release()
    answer(id, undefined)
    // The handler that called this sets it once more.
    port.once('close', () => deferred[Symbol.dispose]())
    port.close()
  }

  async function handle(requests: readonly WaitingRequest[]): Promise<void> {
    let appends: AppendRequest[] = []
    for (const request of requests) {
      if (request.name === 'append') {
        appends.push(request)
        continue
      }
      await append(appends)
      appends = []
      const { id } = request
      switch (request.name) {
        case 'erase':
          await erase(request)
          break
        case 'catchUpLagging':
          held.push({ isDue: writer.isCaughtUp, send: () => answer(id, undefined) })
          break
        case 'remakeViews':
          writer.remakeViews(request.args)
          answer(id, undefined, null)
          break
        case 'erasedElsewhere':
          void answerErased(id)
          break
        case 'close':
          return close(id)
      }
    }
    await append(appends)
  }

  const waiting: WaitingRequest[] = []
  let isHandling = false
  /** The status is what is known: it does not wait for PostgreSQL, which may take seconds to commit. */
  function take(request: StorageRequest): void {
    if (request.name === 'status') answer(request.id, { ...writer.status(), ...engine?.status() })
    else waiting.push(request)
  }

  port.on('message', async (request: StorageRequest) => {
    take(request)
    if (isHandling) return
    isHandling = true
    deferred[Symbol.dispose]()
    // What arrives while a commit is under way is in the next one.
    while (waiting.length > 0) {
      drain(port).forEach(take)
      await handle(waiting.splice(0))
      sendDue()
      // Answers that wait for it do not wait until no more requests come.
      if (held.length > 0) writer.step(LAGGING_BATCH_EVENTS)
    }
    isHandling = false
    sendDue()
    deferred = held.length > 0 ? setImmediate(work) : setTimeout(work, IDLE_MS)
  })
}

/** The requests that have arrived, without waiting; their appends share a commit. */
function drain(port: Port): StorageRequest[] {
  const requests: StorageRequest[] = []
  for (;;) {
    const received: { message: StorageRequest } | undefined = receiveMessageOnPort(port)
    if (!received) return requests
    requests.push(received.message)
  }
}

const COMMITTED_ELSEWHERE =
  'This ledger is committed by PostgreSQL. Set LEDGER_POSTGRES_MODE and LEDGER_POSTGRES_URL, or run npm run engine:detach. ' +
  'If PostgreSQL is lost for good: npm run engine:detach -- --without-postgres.'
const STALE = 'this machine has to catch up with PostgreSQL first'
const UNSETTLED = 'the erasure is recorded and continues by itself, but the files are not cleared yet'

function failureOf(id: number, error: unknown): StorageAnswer {
  if (error instanceof InvalidEvent) return { id, failure: error.message, isInvalid: true }
  if (!(error instanceof LedgerUnavailable)) throw error
  const { message, disk, isUnsure } = error
  return { id, failure: message, isInvalid: false, disk, isUnsure }
}

if (parentPort) await run(parentPort, workerData)
