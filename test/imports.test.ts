import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const base = ['lib', 'storage', 'settings', 'model', 'text']
const features = [
  'adaptations',
  'agent',
  'erasing',
  'memory',
  'notes',
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
  lib: [],
  text: ['lib'],
  model: ['lib', 'text'],
  storage: ['lib'],
  settings: ['lib', 'model'],
  ...Object.fromEntries(features.map((feature) => [feature, base])),
  http: [...base, ...features],
}

/** Imports that break the rule. This list only shrinks. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  agent: ['notes', 'operations', 'sms', 'foundation.ts'],
  erasing: ['memory'],
  http: ['foundation.ts', 'parts.ts'],
  lib: ['config.ts'],
  memory: ['agent', 'timeline', 'timers'],
  operations: ['agent', 'memory', 'phone', 'foundation.ts', 'parts.ts'],
  phone: ['agent', 'operations', 'outbound', 'foundation.ts'],
  sms: ['agent', 'operations', 'outbound', 'phone', 'foundation.ts'],
  storage: ['erasing', 'memory'],
  tasks: ['agent', 'outbound', 'config.ts', 'foundation.ts'],
  text: ['timers'],
  timeline: ['timers'],
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
  const sorted = (lists: Readonly<Record<string, readonly string[]>>) =>
    Object.fromEntries(Object.entries(lists).map(([folder, targets]) => [folder, targets.toSorted()]))
  expect(sorted(found)).toEqual(sorted(exceptions))
})

test('web imports only types of the contract, so that no schema enters the bundle', () => {
  const values = globSync('web/src/**/*.ts').filter((file) =>
    /^(?:import|export) (?!type )[^']*from '[^']*\/src\/http\/contract\//m.test(readFileSync(file, 'utf8')),
  )
  expect(values).toEqual([])
})
