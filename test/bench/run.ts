import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { parts } from './parts.ts'

/**
 * `npm run bench`: medians of one run, ratios within it. `--quick` leaves out the million; `--json` ends with JSON;
 * `--only` takes the name of a part, and may be given again. Each part has a process of its own: what the one before has
 * left in its heap is collected in the middle of nothing that is measured.
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
})
const unknown = values.only?.filter((name) => !Object.hasOwn(parts, name)) ?? []
if (unknown.length > 0) {
  process.stderr.write(`${unknown.join()}: no such part; there are ${Object.keys(parts).join(', ')}\n`)
  process.exit(1)
}

const root = mkdtempSync(join(tmpdir(), 'delegate-bench-'))
const results: Record<string, unknown> = {}

async function run(part: string): Promise<void> {
  const file = join(import.meta.dirname, 'part.ts')
  const child = spawn(process.execPath, [file, part, root, values.quick ? 'quick' : 'whole'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    const [name, figures]: [string, unknown] = JSON.parse(line)
    results[name] = figures
    process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`)
  }
  const [code, signal] = await ended
  if (code !== 0) throw new Error(`the part ${part} ended with ${signal ?? code}`)
}

try {
  for (const part of values.only ?? Object.keys(parts)) await run(part)
} finally {
  rmSync(root, { recursive: true, force: true })
}
if (values.json) process.stdout.write(`${JSON.stringify(results)}\n`)
