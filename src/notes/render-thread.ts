import { parentPort } from 'node:worker_threads'
import { standBack } from '../thread-priority.ts'
import { renderMarkdown } from './markdown.ts'

export type RenderRequest = { readonly id: number; readonly source: string }
export type RenderAnswer =
  | { readonly id: number; readonly kind: 'begun' }
  | { readonly id: number; readonly kind: 'done'; readonly html: string | null }

/** The shell of the rendering thread: a text can be made to take minutes, and the event loop belongs to the voice. */
if (parentPort) standBack()
parentPort?.on('message', ({ id, source }: RenderRequest) => {
  post({ id, kind: 'begun' })
  let html: string | null = null
  try {
    html = renderMarkdown(source)
  } catch {
    // What cannot be rendered is shown as it was written.
  }
  post({ id, kind: 'done', html })
})

function post(answer: RenderAnswer): void {
  parentPort?.postMessage(answer)
}
