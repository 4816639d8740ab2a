import { expect, test } from 'vitest'
import { createMemoryConfig, defaultMemoryConfig } from '../../src/memory/config.ts'

test.each(['{"maxInjectedTokens":', '[]', '"text"'])(
  'starts with the defaults if the document is %s',
  (document) => {
    const config = createMemoryConfig({ load: () => document, save: () => undefined })
    expect(config.get()).toEqual(defaultMemoryConfig)
  },
)

test('keeps the valid fields of a document', () => {
  const load = () => JSON.stringify({ maxInjectedTokens: 300, retrieveTimeoutMs: 'soon' })
  const config = createMemoryConfig({ load, save: () => undefined })
  expect(config.get()).toEqual({ ...defaultMemoryConfig, maxInjectedTokens: 300 })
})
