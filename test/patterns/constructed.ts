import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/*
 * A program of its own: loads every module of the service, and prints the patterns that they build as they load, with
 * the place that builds each. Parsing the source finds literals; of a pattern made of word lists it finds nothing.
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

/** File, line and column of the project's own code that constructs; null for a dependency's. */
function callerOf({ stack = '' }: Error): string | null {
  const caller = stack.split('\n')[2] ?? ''
  const at = caller.indexOf(root)
  if (at < 0 || caller.includes('node_modules')) return null
  return caller.slice(at + root.length).replace(/\)$/, '')
}

/** Those start the service, or a command, when they are loaded. */
const PROGRAMS = /^src\/(?:main|process)\.ts$/

for (const file of globSync(['src/**/*.ts', 'ledger/**/*.ts', 'projections/**/*.ts'], { cwd: root }))
  if (!PROGRAMS.test(file)) await import(root + file)
process.stdout.write(JSON.stringify([...built.values()]))
