import { rmSync } from 'node:fs'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { LedgerDamaged, LedgerLocked, LedgerUnavailable } from '../../ledger/errors.ts'
import { incomingDirectory, makeDirectory } from '../../ledger/files.ts'
import { createIds } from '../../ledger/ids.ts'
import type { CommitOutcome } from '../../ledger/ledger.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import type {
  AppendAnswer,
  EraseAnswer,
  StorageMessage,
  StorageRequest,
  StorageThreadData,
  Unavailable,
} from './messages.ts'
import { traceToStderr } from './trace.ts'
import { openWriter, type Writer } from './writer.ts'

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

type Port = NonNullable<typeof parentPort>
type AppendRequest = Extract<StorageRequest, { kind: 'append' }>

/** A request that is answered once the writer has settled everything. */
type Waiting = { readonly sinceMs: number; readonly settle: (isSettled: boolean) => StorageMessage }

/** A commit's answers, held until the views reach `headSeq`. */
type HeldAnswers = { readonly headSeq: number; readonly answers: readonly AnsweredAppend[] }
type AnsweredAppend = { readonly id: number; readonly answer: AppendAnswer }

/** The storage thread's main function: receives requests, groups appends into commits, and answers. */
function run(port: Port, data: StorageThreadData): void {
  const send = (message: StorageMessage) => port.postMessage(message)
  makeDirectory(data.directory)
  const lock = lockDirectory(data.directory)
  const writer = openWriter({
    directory: data.directory,
    newId: createIds(Date.now),
    warn: (message, fields) => send({ kind: 'warning', message, fields }),
    onProgress: (projection, seq, headSeq) => send({ kind: 'progress', projection, seq, headSeq }),
    onViewsMoved: () => send({ kind: 'views-moved' }),
    trace: data.traceEvents ? traceToStderr : undefined,
  })
  // Left by an interrupted restore or import. Erasures would not reach it.
  rmSync(incomingDirectory(data.directory), { recursive: true, force: true })
  const { seq: headSeq, hash: headHash } = writer.ledger.head()
  send({ kind: 'ready', headSeq, headHash })

  const logCheck = setInterval(() => {
    const lost = writer.ledger.saveLostLog()
    // Restart instead of continuing: every reader would have to reopen the file.
    if (lost?.isSaved) throw new LedgerUnavailable(lost.message)
  }, LOG_CHECK_MS)

  let held: HeldAnswers[] = []
  let erasures: Waiting[] = []
  let searches: Waiting[] = []
  let next = workIn(IDLE_MS)
  let retryMs = RETRY_MS

  /** Answers once the views have the facts. Earlier, the attention would start the same turn again. */
  function sendAnswers(): void {
    const viewsSeq = writer.viewsSeq()
    for (const { answers } of held.filter(({ headSeq }) => headSeq <= viewsSeq))
      send({ kind: 'appended', answers })
    held = held.filter(({ headSeq }) => headSeq > viewsSeq)
  }

  /** Runs one step of deferred work, so that an append never waits for more than a step. */
  function work(): void {
    const hasMore = writer.step(LAGGING_BATCH_EVENTS)
    sendAnswers()
    if (writer.isCaughtUp()) {
      for (const { settle } of searches) send(settle(true))
      searches = []
    }
    if (!hasMore) {
      const isSettled = writer.isSettled()
      const nowMs = performance.now()
      erasures = erasures.filter(({ sinceMs, settle }) => {
        const isOver = isSettled || nowMs - sinceMs > ERASURE_WAIT_MS
        if (isOver) send(settle(isSettled))
        return !isOver
      })
      retryMs = isSettled ? RETRY_MS : Math.min(retryMs * 2, MAX_RETRY_MS)
      if (isSettled) return
    }
    next = hasMore ? workNow() : workIn(retryMs)
  }

  function workIn(ms: number): { cancel(): void } {
    const timer = setTimeout(work, ms)
    return { cancel: () => clearTimeout(timer) }
  }

  /** Runs after pending messages. A timer would be at least a millisecond late. */
  function workNow(): { cancel(): void } {
    const immediate = setImmediate(work)
    return { cancel: () => clearImmediate(immediate) }
  }

  function close(id: number): void {
    next.cancel()
    clearInterval(logCheck)
    for (const { answers } of held) send({ kind: 'appended', answers })
    for (const { settle } of [...searches, ...erasures]) send(settle(false))
    writer.close()
    lock.release()
    send({ kind: 'closed', id })
    port.close()
  }

  port.on('message', (first: StorageRequest) => {
    next.cancel()
    let appends: AppendRequest[] = []
    const commitAppends = () => {
      if (appends.length === 0) return
      const { isKept, answers } = commitGroup(writer, appends)
      appends = []
      if (!isKept) return send({ kind: 'appended', answers })
      held.push({ headSeq: writer.ledger.head().seq, answers })
      sendAnswers()
    }
    for (const request of [first, ...drain(port)]) {
      if (request.kind === 'append') {
        appends.push(request)
        continue
      }
      commitAppends()
      const { id } = request
      const sinceMs = performance.now()
      switch (request.kind) {
        case 'erase': {
          const answer = erase(writer, request)
          if (answer.status === 'unavailable') send({ kind: 'erased', id, answer })
          else
            erasures.push({
              sinceMs,
              settle: (isSettled) => ({ kind: 'erased', id, answer: isSettled ? answer : UNSETTLED }),
            })
          break
        }
        case 'catch-up-lagging':
          searches.push({ sinceMs, settle: () => ({ kind: 'caught-up', id }) })
          break
        case 'remake-views':
          writer.remakeViews(request.reason)
          send({ kind: 'remade', id })
          break
        case 'status':
          send({ kind: 'status', id, status: writer.status() })
          break
        case 'close':
          return close(id)
      }
    }
    commitAppends()
    const isAwaited = erasures.length + searches.length > 0
    next = isAwaited ? workNow() : workIn(IDLE_MS)
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

function commitGroup(
  writer: Writer,
  group: readonly AppendRequest[],
): { isKept: boolean; answers: AnsweredAppend[] } {
  try {
    const outcomes = writer.commit(group.map((request) => request.drafts))
    const answers = group.flatMap(({ id, drafts }, index) => {
      const outcome = outcomes[index]
      return outcome ? [{ id, answer: answerOf(outcome, drafts.length) }] : []
    })
    return { isKept: true, answers }
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    const answer: AppendAnswer = unavailable(error)
    return { isKept: false, answers: group.map(({ id }) => ({ id, answer })) }
  }
}

function answerOf(outcome: CommitOutcome, count: number): AppendAnswer {
  if (outcome.status === 'appended') {
    const own = outcome.rows.slice(0, count)
    return {
      status: 'appended',
      places: own.map(({ seq, hash, body, bodyDigest }) => ({
        seq,
        hash,
        erased: body === null && bodyDigest !== null,
      })),
    }
  }
  return outcome.status === 'rejected' ? { status: 'rejected', message: outcome.error.message } : outcome
}

const unavailable = ({ message, disk }: LedgerUnavailable): Unavailable => ({
  status: 'unavailable',
  message,
  disk,
})

const UNSETTLED: EraseAnswer = {
  status: 'unavailable',
  disk: null,
  message: 'the erasure is recorded and continues by itself, but the files are not cleared yet',
}

function erase(writer: Writer, request: Extract<StorageRequest, { kind: 'erase' }>): EraseAnswer {
  try {
    return { status: 'erased', seqs: writer.erase(request) }
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    return unavailable(error)
  }
}

if (parentPort) {
  try {
    run(parentPort, workerData)
  } catch (error) {
    if (!(error instanceof LedgerDamaged || error instanceof LedgerLocked)) throw error
    const seq = error instanceof LedgerDamaged ? error.seq : null
    const refused: StorageMessage = { kind: 'refused', name: error.name, message: error.message, seq }
    parentPort.postMessage(refused)
    parentPort.close()
  }
}
