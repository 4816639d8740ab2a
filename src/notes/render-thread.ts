import { serveCalls } from '../storage/serve-calls.ts'
import { renderMarkdown } from './markdown.ts'

export type RenderFunctions = { readonly render: () => (source: string) => string }

serveCalls(() => ({ functionOf: () => renderMarkdown, close: () => undefined }))
