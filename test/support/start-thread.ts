import { EventEmitter } from 'node:events'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { inject } from 'vitest'
import { startThread as startFromUrl } from '../../src/lib/start-thread.ts'
import { isWithin } from '../../src/lib/waits.ts'
import type { ThreadRunRequest } from './pooled-thread.ts'

const bundles = inject('bundledThreads')
const idle = new Set<Worker>()

/** How long a thread that is terminated may take to end by itself, so that it can be used again. */
const TERMINATE_AFTER_MS = 250

/**
 * Takes the place of the service's `startThread` in tests: runs the thread's bundle in a thread that another service
 * has left. With a new thread for each service, the daily tests take 1.7 times as long.
 */
export function startThread(
  url: URL,
  data?: { readonly modules?: readonly string[]; readonly postgres?: unknown },
): Worker {
  const bundle = bundles[url.href]
  // What speaks to PostgreSQL reads files beside its source.
  if (bundle === undefined || data?.postgres) return startFromUrl(url, data)
  const modules = data?.modules?.map((module) => bundles[module] ?? module)
  return new ThreadRun(bundle, data && { ...data, modules }) as unknown as Worker
}

function takeWorker(): Worker {
  const [free] = idle
  if (free) {
    idle.delete(free)
    free.ref()
    return free
  }
  const worker = startFromUrl(new URL('./pooled-thread.ts', import.meta.url))
  worker.once('exit', () => idle.delete(worker))
  return worker
}

/** The part of Worker that the service uses. */
class ThreadRun extends EventEmitter {
  readonly #worker = takeWorker()
  readonly #port: MessagePort
  readonly #ended = Promise.withResolvers<void>()
  #isTerminating = false

  constructor(url: string, data: unknown) {
    super()
    const worker = this.#worker
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const run: ThreadRunRequest = { url, data, port: port2 }
    worker.postMessage(run, [port2])
    port1.on('message', (message) => this.emit('message', message))

    const fail = (error: unknown) => this.emit('error', error)
    let hasEnded = false
    const end = () => {
      if (hasEnded) return
      hasEnded = true
      worker.off('error', fail).off('exit', end)
      this.emit('exit')
      this.#ended.resolve()
    }
    worker.on('error', fail).on('exit', end)
    // The port has closed, and so have the connections. The last messages may still wait to be read.
    worker.once('message', () => {
      worker.unref()
      if (!this.#isTerminating) idle.add(worker)
      setImmediate(end)
    })
  }

  postMessage(message: unknown): void {
    this.#port.postMessage(message)
  }

  async terminate(): Promise<void> {
    if (await isWithin(TERMINATE_AFTER_MS, this.#ended.promise)) return
    this.#isTerminating = true
    await this.#worker.terminate()
  }

  unref(): void {
    this.#port.unref()
    this.#worker.unref()
  }
}
