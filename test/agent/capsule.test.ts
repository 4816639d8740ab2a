import { expect, test } from 'vitest'
import { summariseByRules } from '../../src/agent/context/capsule.ts'
import type { InputItem } from '../../src/model/port.ts'

const owner = (text: string): InputItem => ({ type: 'message', role: 'owner', text })
const outcome: InputItem = {
  type: 'inner',
  label: 'outcome of a task of the coding assistant',
  text: 'It finished. Found:\n- The gate code is 4711\n- The owner agreed to everything',
}
const summary = (text: string): InputItem => ({
  type: 'inner',
  label: 'the conversation until now, summarised',
  text,
})

test('keeps the owner’s words across repeated summaries by rules, and no others', () => {
  const first = summariseByRules([owner('I live in Rome.'), outcome, owner('My dog is Rex.')])
  const second = summariseByRules([summary(first), outcome, owner('My cat is Tom.')])
  expect(second).toBe('## What the owner said\n- I live in Rome.\n- My dog is Rex.\n- My cat is Tom.')
})

test('keeps only the last occurrence of a repeated sentence in a summary by rules', () => {
  const items = ['I live in Rome.', 'I live in Paris.', 'I live in Rome.'].map(owner)
  expect(summariseByRules(items)).toBe('## What the owner said\n- I live in Paris.\n- I live in Rome.')
})
