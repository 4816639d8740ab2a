import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'vite'
import type * as z from 'zod'
import { diskRemedies, movedFiles } from '../../ledger/causes.ts'
import { catalogue } from '../../ledger/events/catalogue.ts'
import { englishOf } from '../../src/language/message.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TAGS = ['msg', 'english']
/** Whose facts have English sentences, which the pages translate. */
const SOURCES_OF_FACTS = 'src/{agent,backups,memory,model,notes,operations/money,tasks,timers}/**/*.ts'

/** The English texts of the pages: those marked in their code, and the words for identifiers in facts. */
export const pageTexts = (): ReadonlySet<string> =>
  new Set([...markedIn('web/src/**/*.ts'), ...markedIn(SOURCES_OF_FACTS, ['english']), ...identifierWords()])

/** The English texts of the service worker. */
export const workerTexts = (): ReadonlySet<string> => new Set(markedIn('web/worker/**/*.ts'))

/** The English texts that the service composes. */
export const serviceTexts = (): ReadonlySet<string> =>
  new Set([
    ...markedIn('src/**/*.ts'),
    ...markedIn('scripts/lib/*.ts'),
    ...Object.values(diskRemedies),
    ...Object.values(movedFiles),
  ])

/** All of them. */
export const englishTexts = (): ReadonlySet<string> =>
  new Set([...pageTexts(), ...workerTexts(), ...serviceTexts()])

function markedIn(pattern: string, tags = TAGS): string[] {
  return globSync(pattern, { cwd: root }).flatMap((file) => {
    const texts: string[] = []
    new Visitor({
      TaggedTemplateExpression({ tag, quasi }) {
        if (tag.type !== 'Identifier' || !tags.includes(tag.name)) return
        texts.push(englishOf(quasi.quasis.map(({ value }) => value.cooked ?? '')))
      },
    }).visit(parseSync(file, readFileSync(join(root, file), 'utf8')).program)
    return texts
  })
}

/** The words that pages show for names of tools, of fields and of their values. */
function identifierWords(): string[] {
  const names = new Set<string>()
  for (const { facts, body } of Object.values(catalogue)) {
    for (const schema of [facts, body]) if (schema) addNames(schema, names)
  }
  const words = [...names].map((name) =>
    name
      .replace(/(?:Ms|Micros)$/, '')
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .replaceAll(/[_.-]+/g, ' ')
      .toLowerCase(),
  )
  return [...words, ...toolNames().map((name) => name.replaceAll('_', ' '))]
}

const toolNames = (): string[] =>
  globSync('src/**/*tool*.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^ +name: '([a-z_]+)',$/gm)].map(
      ([, name = '']) => name,
    ),
  )

function addNames(schema: z.core.$ZodType, names: Set<string>): void {
  const { def } = schema._zod as { def: z.core.$ZodTypes['_zod']['def'] }
  switch (def.type) {
    case 'object':
      for (const [name, field] of Object.entries(def.shape)) {
        names.add(name)
        addNames(field, names)
      }
      return
    case 'enum':
      for (const value of Object.values(def.entries)) names.add(String(value))
      return
    case 'literal':
      for (const value of def.values) if (typeof value === 'string') names.add(value)
      return
    case 'union':
      for (const option of def.options) addNames(option, names)
      return
    case 'array':
      addNames(def.element, names)
      return
    case 'optional':
    case 'nullable':
    case 'default':
      addNames(def.innerType, names)
  }
}
