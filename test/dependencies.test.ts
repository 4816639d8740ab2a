import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

/** As the table of reasons names a package: without the scope of a tool that is known by its own name. */
const nameOf = (dependency: string) =>
  dependency.startsWith('@types/') ? '@types/*' : dependency.replace(/^@biomejs\//, '')

test('every dependency has its reason in docs/decisions/0001, and no other package has', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'))
  const [, table = ''] = read('docs/decisions/0001-foundations.md').split('## Dependencies and their reasons')
  const rows = [...table.matchAll(/^\| (?!Package |---)([^|]+) \|/gm)]
  const explained = rows.flatMap(([, names = '']) => names.split(', '))
  const used = Object.keys({ ...dependencies, ...devDependencies }).map(nameOf)
  expect(explained.sort()).toEqual([...new Set(used)].sort())
})
