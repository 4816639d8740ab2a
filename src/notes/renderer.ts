import type { Worker } from 'node:worker_threads'
import { startThread } from '../start-thread.ts'
import { escapeHtml } from './escape-html.ts'
import type { RenderAnswer, RenderRequest } from './render-thread.ts'

export type NoteRenderer = {
  /** Inert HTML of a markdown text. Never rejects: what cannot be rendered in time is shown as it was written. */
  render(source: string): Promise<string>
  close(): Promise<void>
}

/** A text that takes longer was made to. */
const LIMIT_MS = 4000

type Waiting = { readonly request: RenderRequest; readonly settle: (html: string) => void }

/** Renders in a thread of its own, one text after the other; a text that takes too long costs the thread. */
export function createNoteRenderer(options: { readonly limitMs?: number } = {}): NoteRenderer {
  const limitMs = options.limitMs ?? LIMIT_MS
  const waiting: Waiting[] = []
  let worker: Worker | null = null
  let lastId = 0
  let limit: NodeJS.Timeout | undefined

  function threadOf(): Worker {
    if (worker) return worker
    const started = startThread(new URL('./render-thread.ts', import.meta.url))
    started.unref()
    started.on('message', (answer: RenderAnswer) => {
      if (waiting[0]?.request.id !== answer.id) return
      if (answer.kind === 'done') finish(answer.html)
      // Counted from here: a thread that starts on a busy machine is no text's fault.
      else limit = setTimeout(giveUp, limitMs)
    })
    const gone = () => {
      if (worker !== started) return
      worker = null
      finish(null)
    }
    started.on('error', gone)
    started.on('exit', gone)
    worker = started
    return started
  }

  function next(): void {
    const [first] = waiting
    if (!first) return
    threadOf().postMessage(first.request)
  }

  function finish(html: string | null): void {
    clearTimeout(limit)
    const done = waiting.shift()
    done?.settle(html ?? `<pre tabindex="0">${escapeHtml(done.request.source)}</pre>`)
    next()
  }

  function giveUp(): void {
    void worker?.terminate()
    worker = null
    finish(null)
  }

  return {
    render(source) {
      const { promise, resolve } = Promise.withResolvers<string>()
      lastId += 1
      waiting.push({ request: { id: lastId, source }, settle: resolve })
      if (waiting.length === 1) next()
      return promise
    },
    async close() {
      clearTimeout(limit)
      const gone = worker
      worker = null
      for (const { request, settle } of waiting.splice(0)) settle(escapeHtml(request.source))
      await gone?.terminate()
    },
  }
}
