import { serveCalls } from '../storage/serve-calls.ts'
import { renderMarkdown } from './markdown.ts'

export type RenderFunctions = { readonly render: () => typeof renderMarkdown }

serveCalls({ render: renderMarkdown })
