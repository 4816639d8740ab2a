import { serveCalls } from '../storage/serve-calls.ts'
import { renderMarkdown } from './markdown.ts'

/** What the rendering thread can be asked. */
export type RenderFunctions = { readonly render: () => (source: string) => string }

serveCalls(() => ({ functionOf: () => renderMarkdown, close: () => undefined }))
