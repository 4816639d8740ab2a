import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderGuide } from '../../scripts/lib/operator-tables.ts'
import { processVariables } from '../../src/config.ts'
import { settingKeys } from '../../src/settings/registry.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const guide = read('docs/operator-guide.md')
const scripts = Object.keys(JSON.parse(read('package.json')).scripts)

test('has the tables of the code in the guide ("npm run docs:guide" writes them)', () => {
  expect(renderGuide(guide, scripts)).toBe(guide)
})

test('has every setting, variable and script in the guide, and describes every variable', () => {
  for (const name of [...settingKeys, ...processVariables.map((variable) => variable.name)]) {
    expect(guide).toContain(`| \`${name}\` |`)
  }
  for (const name of scripts) expect(guide).toMatch(new RegExp(`\`npm (run )?${name}\``))
  for (const { description } of processVariables) expect(description).toMatch(/.\.$/)
})

test('refuses a script without a description', () => {
  expect(() => renderGuide(guide, [...scripts, 'mystery'])).toThrow(/mystery/)
  expect(() => renderGuide(guide, scripts.slice(1))).toThrow(/start/)
})

test('names only commands that exist in the guide', () => {
  const named = [...guide.matchAll(/npm run (?:--silent )?([a-z:-]+)/g)].map(([, name]) => name ?? '')
  expect(named.filter((name) => !scripts.includes(name))).toEqual([])
})
