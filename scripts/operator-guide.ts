import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { renderGuide } from './lib/operator-tables.ts'

/** `npm run docs:guide`: regenerates the tables of docs/operator-guide.md from the code. */
const root = new URL('..', import.meta.url)
const file = fileURLToPath(new URL('docs/operator-guide.md', root))
const packageSchema = z.object({ scripts: z.record(z.string(), z.string()) })
const { scripts } = packageSchema.parse(JSON.parse(readFileSync(new URL('package.json', root), 'utf8')))
writeFileSync(file, renderGuide(readFileSync(file, 'utf8'), Object.keys(scripts)))
