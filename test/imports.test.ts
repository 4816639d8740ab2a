import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const base = ['language', 'lib', 'storage', 'settings', 'model', 'text']
const features = [
  'adaptations',
  'agent',
  'backups',
  'erasing',
  'halt',
  'imports',
  'memory',
  'metrics',
  'notes',
  'notifications',
  'operations',
  'outbound',
  'phone',
  'sms',
  'tasks',
  'timeline',
  'timers',
]

/** What each folder of `src` may import. Features meet through facts and queries. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  language: [],
  lib: ['language'],
  text: ['lib'],
  model: ['language', 'lib', 'text'],
  storage: ['language', 'lib'],
  settings: ['language', 'lib', 'model'],
  ...Object.fromEntries(features.map((feature) => [feature, base])),
  http: [...base, ...features],
}

test('each folder of src imports only the folders below it', () => {
  const found: Record<string, string[]> = {}
  for (const file of globSync('src/*/**/*.ts')) {
    const [, folder = ''] = file.split('/')
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      const [root, target = ''] = normalize(join(dirname(file), path)).split('/')
      if (root !== 'src' || target === folder || allowed[folder]?.includes(target)) continue
      found[folder] = [...new Set([...(found[folder] ?? []), target])]
    }
  }
  expect(found).toEqual({})
})

test('the root of src holds the start, the configuration and the composition', () => {
  expect(globSync('src/*.ts').toSorted()).toEqual([
    'src/config.ts',
    'src/main.ts',
    'src/opening.ts',
    'src/service.ts',
  ])
})

test('web imports only types of the contract, so that no schema enters the bundle', () => {
  const values = globSync('web/src/**/*.ts').filter((file) =>
    /^(?:import|export) (?!type )[^']*from '[^']*\/src\/http\/contract\//m.test(readFileSync(file, 'utf8')),
  )
  expect(values).toEqual([])
})
