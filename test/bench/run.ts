import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { startFlags } from '../support/start-flags.ts'
import { type PartName, parts } from './parts.ts'

/**
 * `npm run bench`: `--quick` skips the largest ledger, `--json` ends with JSON, `--only` (repeatable) selects
 * parts. Each part runs in its own process and starts after a disk sync, so that the previous one does not
 * disturb it.
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
})
/** Keeps the garbage collector of a measuring client idle during a turn. */
const CLIENT_FLAGS = ['--max-semi-space-size=128', '--v8-pool-size=1']
/** Parts that measure in their own process run with the flags of the service. */
const flagsOf: Readonly<Record<PartName, () => readonly string[]>> = {
  append: startFlags,
  engine: startFlags,
  views: startFlags,
  turns: () => CLIENT_FLAGS,
  bridge: startFlags,
  'spoken-call': startFlags,
  'loaded-bridge': () => [],
  erasing: startFlags,
  memories: startFlags,
}

const isPart = (name: string): name is PartName => Object.hasOwn(parts, name)
const root = mkdtempSync(join(tmpdir(), 'delegate-bench-'))
const results: Record<string, unknown> = {}

async function run(part: PartName): Promise<void> {
  const file = join(import.meta.dirname, 'part.ts')
  spawnSync('sync')
  const child = spawn(
    process.execPath,
    [...flagsOf[part](), file, part, root, values.quick ? 'quick' : 'whole'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
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
  for (const part of values.only ?? Object.keys(parts)) {
    if (!isPart(part)) throw new Error(`no such part: ${part}; there are ${Object.keys(parts).join(', ')}`)
    await run(part)
  }
} finally {
  rmSync(root, { recursive: true, force: true })
}
if (values.json) process.stdout.write(`${JSON.stringify(results)}\n`)
