import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { LedgerDamaged, LedgerLocked, LedgerUnavailable } from '../../ledger/errors.ts'
import { makeDirectory } from '../../ledger/files.ts'
import { createIds } from '../../ledger/ids.ts'
import type { CommitOutcome } from '../../ledger/ledger.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import type { AppendAnswer, StorageMessage, StorageRequest, StorageThreadData } from './messages.ts'
import { traceToStderr } from './trace.ts'
import { openWriter, type Writer } from './writer.ts'

/** Events that one idle step folds into the lagging projections; under a millisecond, so appends hardly wait. */
const LAGGING_BATCH_EVENTS = 100
/** How long nothing may arrive before idle work begins. */
const IDLE_MS = 25

/** The shell of the storage thread: takes requests off the port, groups the appends among them, answers. */
function run(port: NonNullable<typeof parentPort>, data: StorageThreadData): void {
  const send = (message: StorageMessage) => port.postMessage(message)
  makeDirectory(data.directory)
  const lock = lockDirectory(data.directory)
  const writer = openWriter({
    directory: data.directory,
    newId: createIds(Date.now),
    warn: (message, fields) => send({ kind: 'warning', message, fields }),
    onProgress: (projection, seq, headSeq) => send({ kind: 'progress', projection, seq, headSeq }),
    trace: data.traceEvents ? traceToStderr : undefined,
  })
  const { seq: headSeq, hash: headHash } = writer.ledger.head()
  send({ kind: 'ready', headSeq, headHash })

  let idle: NodeJS.Timeout | undefined
  const whenIdle = () => {
    if (writer.catchUpLagging(LAGGING_BATCH_EVENTS)) idle = setTimeout(whenIdle, 0)
  }

  port.on('message', (first: StorageRequest) => {
    clearTimeout(idle)
    const requests = [first, ...drain(port)]
    let appends: Extract<StorageRequest, { kind: 'append' }>[] = []
    for (const request of requests) {
      if (request.kind === 'append') {
        appends.push(request)
        continue
      }
      send({ kind: 'appended', answers: commitGroup(writer, appends) })
      appends = []
      if (request.kind === 'close') {
        writer.close()
        lock.release()
        send({ kind: 'closed', id: request.id })
        port.close()
        return
      }
      send(answer(writer, request))
    }
    if (appends.length > 0) send({ kind: 'appended', answers: commitGroup(writer, appends) })
    idle = setTimeout(whenIdle, IDLE_MS)
  })
}

/** What has arrived by now, without waiting: these requests share a commit. */
function drain(port: NonNullable<typeof parentPort>): StorageRequest[] {
  const requests: StorageRequest[] = []
  for (;;) {
    const received: { message: StorageRequest } | undefined = receiveMessageOnPort(port)
    if (!received) return requests
    requests.push(received.message)
  }
}

function commitGroup(
  writer: Writer,
  group: readonly Extract<StorageRequest, { kind: 'append' }>[],
): { id: number; answer: AppendAnswer }[] {
  if (group.length === 0) return []
  try {
    const outcomes = writer.commit(group.map((request) => request.drafts))
    return group.flatMap(({ id }, index) => {
      const outcome = outcomes[index]
      return outcome ? [{ id, answer: answerOf(outcome) }] : []
    })
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    return group.map(({ id }) => ({ id, answer: { status: 'unavailable', message: error.message } }))
  }
}

function answerOf(outcome: CommitOutcome): AppendAnswer {
  if (outcome.status === 'appended') {
    return { status: 'appended', places: outcome.rows.map(({ seq, hash }) => ({ seq, hash })) }
  }
  return outcome.status === 'rejected' ? { status: 'rejected', message: outcome.error.message } : outcome
}

function answer(
  writer: Writer,
  request: Exclude<StorageRequest, { kind: 'append' | 'close' }>,
): StorageMessage {
  const { id } = request
  switch (request.kind) {
    case 'erase':
      try {
        writer.erase(request.erasedDrafts)
        return { kind: 'erased', id, answer: { status: 'erased' } }
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error
        return { kind: 'erased', id, answer: { status: 'unavailable', message: error.message } }
      }
    case 'catch-up-lagging':
      while (writer.catchUpLagging(LAGGING_BATCH_EVENTS * 10));
      return { kind: 'caught-up', id }
    case 'status':
      return { kind: 'status', id, status: writer.status() }
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
