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
 * `npm run bench`: medians of one run, ratios within it. `--quick` leaves out the million; `--json` ends with JSON;
 * `--only` takes the name of a part, and may be given again. Each part has a process of its own, and begins when what the
 * one before has written is on the disk: nothing that it left is collected, or written, in the midst of what is measured.
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
})
/** A service in a process of its own is measured by a client whose own garbage is not collected while a turn lasts. */
const CLIENT_FLAGS = ['--max-semi-space-size=128', '--v8-pool-size=1']
/** What is measured in the part's own process runs as the service does; the loaded bridge is in one of its own. */
const flagsOf: Readonly<Record<PartName, () => readonly string[]>> = {
  append: startFlags,
  views: startFlags,
  turns: () => CLIENT_FLAGS,
  bridge: startFlags,
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
