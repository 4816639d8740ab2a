import { expect, test } from 'vitest'
import { asksNotToKeep } from '../../src/text/secrecy.ts'

test.each([
  'Please don’t keep this: my PIN is 4471',
  'My PIN is 4471, but do not remember that',
  'Off the record: I have asked for a pay rise',
  'Between us, mum gave me the combination of her safe',
  'You must never store that',
  'I would rather not keep this',
])('reads the wish not to keep “%s”', (text) => {
  expect(asksNotToKeep(text)).toBe(true)
})

test.each([
  'The code for the gate is 5093, I can never remember it',
  'I don’t remember that',
  'I said “don’t keep this” yesterday. My cat is called Mauzi.',
  'We never write it down, so please keep it: the tank holds 60 litres',
  'You don’t know that yet, but Ida moved to Turku',
])('reads no such wish in “%s”', (text) => {
  expect(asksNotToKeep(text)).toBe(false)
})
