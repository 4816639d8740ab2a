import {
  type FunctionThreadOptions,
  openFunctionThread,
  QueryFailed,
  ThreadFailed,
} from '../storage/function-thread.ts'
import { escapeHtml } from '../text/escape-html.ts'
import type { RenderFunctions } from './render-thread.ts'

export type NoteRenderer = ReturnType<typeof createNoteRenderer>

/** Only malicious input takes longer. */
const LIMIT_MS = 4000

/** Renders in a separate thread: malicious input can take minutes, which must not block the event loop. */
export function createNoteRenderer(options: FunctionThreadOptions = {}) {
  const thread = openFunctionThread<RenderFunctions>(new URL('./render-thread.ts', import.meta.url), null, {
    ...options,
    limitMs: options.limitMs ?? LIMIT_MS,
  })
  return {
    /** Renders markdown to inert HTML. On failure or a timeout, returns the source as preformatted text. */
    async render(source: string): Promise<string> {
      try {
        return await thread.ask('render', source)
      } catch (error) {
        if (!(error instanceof ThreadFailed || error instanceof QueryFailed)) throw error
        return `<pre tabindex="0">${escapeHtml(source)}</pre>`
      }
    },
    close: thread.close,
  }
}
