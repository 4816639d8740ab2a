import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Type stripping and compilation take most of the start, so cache their results.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/delegate', import.meta.url)))
await import('./process.ts')
