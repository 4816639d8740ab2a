import {
  type FunctionThreadOptions,
  openFunctionThread,
  QueryFailed,
  ThreadFailed,
} from '../storage/function-thread.ts'
import { escapeHtml } from './escape-html.ts'
import type { RenderFunctions } from './render-thread.ts'

export type NoteRenderer = {
  /** Inert HTML of a markdown text. Never rejects: what cannot be rendered in time is shown as it was written. */
  render(source: string): Promise<string>
  close(): Promise<void>
}

/** A text that takes longer was made to. */
const LIMIT_MS = 4000

/** Renders in a thread of its own: a text can be made to take minutes, and the event loop belongs to the voice. */
export function createNoteRenderer(options: FunctionThreadOptions = {}): NoteRenderer {
  const thread = openFunctionThread<RenderFunctions>(new URL('./render-thread.ts', import.meta.url), null, {
    ...options,
    limitMs: options.limitMs ?? LIMIT_MS,
  })
  return {
    async render(source) {
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
