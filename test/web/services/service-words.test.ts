import { expect, test } from 'vitest'
import { contextText, isLoopback, suggestedModel } from '../../../web/src/services/service-words.ts'

const models = (...ids: readonly string[]) => ids.map((id) => ({ id, contextTokens: null }))

test.each([
  ['the current model', ['gpt-5.5', 'o9'], 'o9', 'o9'],
  ['the current model under its tag', ['qwen3:8b', 'phi4:latest'], 'phi4', 'phi4:latest'],
  [
    'the current model under its path',
    ['models/a', 'models/gemini-2.5-flash'],
    'gemini-2.5-flash',
    'models/gemini-2.5-flash',
  ],
  ['no model for another purpose', ['nomic-embed-text', 'whisper-1', 'qwen3:8b'], 'gpt-5.5', 'qwen3:8b'],
  ['the first, if none chats', ['nomic-embed-text', 'whisper-1'], 'gpt-5.5', 'nomic-embed-text'],
  ['none of none', [], 'gpt-5.5', ''],
] as const)('suggests %s', (_, ids, current, expected) => {
  expect(suggestedModel(models(...ids), current)).toBe(expected)
})

test('recognises addresses of this machine', () => {
  const addresses = [
    'http://localhost:1/v1',
    'http://127.0.0.1/v1',
    'http://[::1]:2',
    'http://127.0.0.1.example.com',
    '',
  ]
  expect(addresses.map(isLoopback)).toEqual([true, true, true, false, false])
})

test('words the length of a context', () => {
  expect([null, 40_960, 131_072, 200_000, 1_048_576].map(contextText)).toEqual([
    '',
    '40k tokens',
    '128k tokens',
    '200k tokens',
    '1M tokens',
  ])
})
