import { expect, test } from 'vitest'
import { missing, missingForTest, triedOf } from '../../../web/src/services/service-form.ts'
import type { Service, ServiceKind } from '../../../web/src/services/service-words.ts'

const kind: ServiceKind = {
  kind: 'openai',
  title: 'OpenAI',
  about: '',
  baseUrl: 'https://api.openai.com/v1',
  needsKey: true,
  hint: '',
}
const saved: Service = {
  id: 'main',
  kind: 'openai',
  title: 'OpenAI',
  baseUrl: 'https://models.example.com/v1',
  api: 'auto',
  hasKey: true,
}

test.each([
  ['nothing at the saved address', 'https://models.example.com/v1', '', undefined, undefined],
  ['the key to test another path', 'https://models.example.com/v2', '', undefined, /another path/],
  [
    'the key at another address',
    'https://elsewhere.example.com/v1',
    '',
    /another address/,
    /another address/,
  ],
  ['nothing with a key', 'https://elsewhere.example.com/v1', 'new key', undefined, undefined],
] as const)('asks for %s', (_, baseUrl, apiKey, toSave, toTest) => {
  const said = (errors: Readonly<Record<string, string>>) => errors.apiKey ?? ''
  const entry = { baseUrl, apiKey }
  expect(said(missing(kind, saved, entry))).toMatch(toSave ?? /^$/)
  expect(said(missingForTest(kind, saved, entry))).toMatch(toTest ?? /^$/)
})

test('tests a saved service with its key, and any other with the key that is entered', () => {
  const { baseUrl } = saved
  expect(triedOf(kind, saved, { baseUrl, apiKey: '' })).toEqual({ id: 'main' })
  expect(triedOf(kind, saved, { baseUrl, apiKey: 'k' })).toEqual({ kind: 'openai', baseUrl, apiKey: 'k' })
  expect(triedOf(kind, null, { baseUrl, apiKey: '' })).toEqual({ kind: 'openai', baseUrl })
})
