import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderGuide } from '../../scripts/lib/operator-tables.ts'
import { processVariables } from '../../src/config.ts'
import { settingKeys } from '../../src/settings/registry.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const guide = read('docs/operator-guide.md')
const scripts = Object.keys(JSON.parse(read('package.json')).scripts)

test('the tables of the guide are those of the code ("npm run docs:guide" writes them)', () => {
  expect(renderGuide(guide, scripts)).toBe(guide)
})

test('every setting, variable and script is in the guide, and every variable has a meaning', () => {
  for (const name of [...settingKeys, ...processVariables.map((variable) => variable.name)]) {
    expect(guide).toContain(`| \`${name}\` |`)
  }
  for (const name of scripts) expect(guide).toMatch(new RegExp(`\`npm (run )?${name}\``))
  for (const { description } of processVariables) expect(description).toMatch(/.\.$/)
})

test('a script that nobody explained is refused', () => {
  expect(() => renderGuide(guide, [...scripts, 'mystery'])).toThrow(/mystery/)
  expect(() => renderGuide(guide, scripts.slice(1))).toThrow(/start/)
})

test('every command that the guide names exists', () => {
  const named = [...guide.matchAll(/npm run (?:--silent )?([a-z:-]+)/g)].map(([, name]) => name ?? '')
  expect(named.filter((name) => !scripts.includes(name))).toEqual([])
})
