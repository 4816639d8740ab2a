import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Loads every module of the service in a process of its own, and prints the patterns built while loading
 * with their places. Parsing the source would miss patterns made from word lists.
 */

const root = fileURLToPath(new URL('../../', import.meta.url))
const built = new Map<string, { place: string; source: string; flags: string }>()
const { RegExp: original } = globalThis

globalThis.RegExp = new Proxy(original, {
  construct(target, args) {
    const pattern = Reflect.construct(target, args)
    const place = callerOf(new Error('only for its stack'))
    if (place !== null) {
      const { source, flags } = pattern
      built.set(JSON.stringify([place, source, flags]), { place, source, flags })
    }
    return pattern
  },
})

/** The place in the project's code that constructs the pattern; null for a dependency. */
function callerOf({ stack = '' }: Error): string | null {
  const caller = stack.split('\n')[2] ?? ''
  const at = caller.indexOf(root)
  if (at < 0 || caller.includes('node_modules')) return null
  return caller.slice(at + root.length).replace(/\)$/, '')
}

/** Loading these starts the service, or needs the data of its thread. */
const PROGRAMS =
  /^src\/(?:main|storage\/(?:query|verify)-thread|memory\/(?:learn\/learning|recall\/vector)-thread)\.ts$/

for (const file of globSync(['src/**/*.ts', 'ledger/**/*.ts', 'projections/**/*.ts'], { cwd: root }))
  if (!PROGRAMS.test(file)) await import(root + file)
process.stdout.write(JSON.stringify([...built.values()]))
