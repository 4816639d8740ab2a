import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const [head = '', ...ways] = readFileSync('docs/map.md', 'utf8').split('\n## ')
const linksIn = (text: string) =>
  [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => join('docs', link))

test('every file that the map links exists', () => {
  expect([head, ...ways].flatMap(linksIn).filter((file) => !existsSync(file))).toEqual([])
})

test('the map counts the files of each way, with those of a commit', () => {
  for (const way of ways) {
    const files = new Set([...linksIn(head), ...linksIn(way)])
    expect(way.split('\n', 1)[0]).toContain(`(${files.size} files)`)
  }
})

test('CONTRIBUTING lists every folder of src', () => {
  const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.filter(({ name }) => !contributing.includes(`| \`src/${name}/\` |`))).toEqual([])
})
