import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Stripping types and compiling take most of a start: both are kept from one start to the next.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/delegate', import.meta.url)))
await import('./process.ts')
