import { expect, test } from 'vitest'
import { contextText, isLoopback, suggestedModel } from '../../../web/src/services/service-words.ts'

const models = (...ids: readonly string[]) => ids.map((id) => ({ id, contextTokens: null }))

test.each([
  ['the current model', 'openai', ['gpt-5.5', 'o9'], 'o9', 'o9'],
  ['the current model under its full name', 'ollama', ['phi4:latest', 'qwen3:8b'], 'phi4', 'phi4:latest'],
  ['no model for another purpose', 'ollama', ['nomic-embed-text', 'whisper-1', 'qwen3:8b'], null, 'qwen3:8b'],
  [
    'the newest of a family',
    'anthropic',
    ['claude-opus-4-1', 'claude-sonnet-4-0', 'claude-sonnet-4-5'],
    null,
    'claude-sonnet-4-5',
  ],
  [
    'a path of Gemini',
    'gemini',
    ['models/gemini-2.5-pro', 'models/gemini-2.5-flash'],
    null,
    'models/gemini-2.5-flash',
  ],
  ['the first, if none chats', 'other', ['bge-m3'], null, 'bge-m3'],
  ['none of none', 'other', [], 'gpt-5.5', ''],
] as const)('suggests %s', (_, kind, ids, current, expected) => {
  expect(suggestedModel(kind, models(...ids), current)).toBe(expected)
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
  expect([null, 40_960, 131_072, 1_048_576].map(contextText)).toEqual([
    '',
    '40k tokens',
    '128k tokens',
    '1M tokens',
  ])
})
