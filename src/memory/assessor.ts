import type { Worker } from 'node:worker_threads'
import { startThread } from '../start-thread.ts'
import type { Assessment, AssessRequest } from './assess.ts'

export type AssessAnswer =
  | { readonly id: number; readonly assessments: readonly Assessment[] }
  | { readonly id: number; readonly failure: string }

/** Judges candidates. Rejects only when it failed, or was closed. */
export type Assessor = {
  assess(request: AssessRequest): Promise<readonly Assessment[]>
  close(): Promise<void>
}

/** Candidates could not be judged: a fault of the judge's, not of theirs. */
export class AssessmentFailed extends Error {
  override readonly name = 'AssessmentFailed'
}

/** Judges in a thread of its own, started with the first request; one that dies is replaced with the next. */
export function createAssessor(): Assessor {
  const pending = new Map<number, PromiseWithResolvers<readonly Assessment[]>>()
  let worker: Worker | null = null
  let lastId = 0
  let closed = false

  function start(): Worker {
    const started = startThread(new URL('./assess-thread.ts', import.meta.url))
    started.on('message', (answer: AssessAnswer) => {
      const waiting = pending.get(answer.id)
      pending.delete(answer.id)
      if ('assessments' in answer) waiting?.resolve(answer.assessments)
      else waiting?.reject(new AssessmentFailed(answer.failure))
    })
    started.on('error', (cause) => failAll(cause))
    started.on('exit', () => {
      if (worker === started) worker = null
      failAll(new Error('the thread ended'))
    })
    started.unref()
    return started
  }

  function failAll(cause: unknown): void {
    for (const waiting of pending.values())
      waiting.reject(new AssessmentFailed('the assessing thread failed', { cause }))
    pending.clear()
  }

  return {
    assess(request) {
      if (closed) return Promise.reject(new AssessmentFailed('the assessor is closed'))
      worker ??= start()
      lastId += 1
      const answer = Promise.withResolvers<readonly Assessment[]>()
      pending.set(lastId, answer)
      worker.postMessage({ id: lastId, request })
      return answer.promise
    },
    async close() {
      closed = true
      await worker?.terminate()
    },
  }
}
