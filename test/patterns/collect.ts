import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type ESTree, parseSync, Visitor } from 'vite'

/** A pattern of the product and where it is defined. */
export type Found = { readonly place: string; readonly pattern: RegExp }

const root = fileURLToPath(new URL('../../', import.meta.url))
const SOURCES = ['{src,ledger,projections,web/src}/**/*.ts', 'scripts/**/*.{ts,cjs}', 'web/*.ts']

/** Every literal pattern, and every place that constructs one. */
export function readSources(): {
  readonly literals: readonly Found[]
  readonly constructors: readonly string[]
} {
  const literals: Found[] = []
  const constructors: string[] = []
  for (const file of globSync([...SOURCES], { cwd: root })) {
    const text = readFileSync(root + file, 'utf8')
    const lines = text.split('\n')
    const placeOf = (offset: number): string => {
      let line = 0
      let left = offset
      while (left > (lines[line] ?? '').length) {
        left -= (lines[line] ?? '').length + 1
        line += 1
      }
      return `${file}:${line + 1}:${left + 1}`
    }
    const construction = ({ callee, start }: ESTree.NewExpression | ESTree.CallExpression) => {
      if (callee.type === 'Identifier' && callee.name === 'RegExp') constructors.push(placeOf(start))
    }
    new Visitor({
      Literal(node) {
        if ('regex' in node)
          literals.push({
            place: placeOf(node.start),
            pattern: new RegExp(node.regex.pattern, node.regex.flags),
          })
      },
      NewExpression: construction,
      CallExpression: construction,
    }).visit(parseSync(file, text).program)
  }
  return { literals, constructors }
}

/** Every pattern that the service's modules build while loading. */
export function loadModules(): Found[] {
  const program = fileURLToPath(new URL('./constructed.ts', import.meta.url))
  const printed = execFileSync(process.execPath, [program], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const built: { place: string; source: string; flags: string }[] = JSON.parse(printed)
  return built.map(({ place, source, flags }) => ({ place, pattern: new RegExp(source, flags) }))
}
