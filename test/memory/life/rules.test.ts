import { expect, test } from 'vitest'
import { judge } from '../../../src/memory/learn/gates.ts'
import { extractByRules } from '../../../src/memory/learn/rules/rules.ts'
import { sentencesOf } from '../../../src/text/text.ts'
import { courtOf } from './court.ts'

/** The texts that rules learn from a message. */
function learned(message: string): string[] {
  const court = courtOf(message)
  return court.quotables
    .flatMap((quotable) => extractByRules(quotable, 'Europe/Berlin'))
    .filter((candidate) => 'evidence' in judge(candidate, court))
    .map(({ text }) => text)
}

test.for([
  'Make a note: buy milk, eggs and bread',
  'note: I love tea',
  'Please make a note that my sister’s birthday is 5 May',
  'write down: my car is a Skoda',
  'create a note called Me: I live in Rome. I love tea.',
  'make a shopping list: milk, eggs. My favourite tea is Assam.',
  'add "my favourite tea is Earl Grey" to the note Garden',
  'ask the coding assistant to fix it because I live in Rome',
  'remember to buy milk',
  "don't forget to call mum",
  'remind me tomorrow that my sister is in Rome',
  'text my sister that my number is 12345',
  'search for router',
])('learns nothing from “%s”', (message) => {
  expect(learned(message)).toEqual([])
})

test.for([
  ['I love tea. Make a note: buy milk. My car is a Skoda.', ['I love tea']],
  ['note that I parked on level 3', ['I parked on level 3']],
  ['Please take note that my new number is 0170 1234567', ['my new number is 0170 1234567']],
  ['remember that the milk is in the cellar', ['the milk is in the cellar']],
  ['I live in Rome and I take notes every day', ['I live in Rome', 'I take notes every day']],
  ['Set a timer for 5 minutes. I love tea.', ['I love tea']],
  ['I am 34. My sister lives in Rome.', ['I am 34', 'My sister lives in Rome']],
  [
    'My dentist is Dr. Weber. My GP is Prof. Klein, Hauptstr. 5, Apt. 3.',
    ['My dentist is Dr. Weber', 'My GP is Prof. Klein, Hauptstr. 5, Apt. 3'],
  ],
] as const)('learns from “%s”: %j', ([message, expected]) => {
  expect(learned(message)).toEqual(expected)
})

test.for([
  ['My dentist is Dr. Weber. She is nice.', ['My dentist is Dr. Weber.', 'She is nice.']],
  ['Call Mr. and Mrs. J. R. Smith at St. Mary.', ['Call Mr. and Mrs. J. R. Smith at St. Mary.']],
  ['It costs 4.50, e.g. at www.shop.example. See?', ['It costs 4.50, e.g. at www.shop.example.', 'See?']],
  ['Room No. 5 is mine. No. I mean No. 6.', ['Room No. 5 is mine.', 'No.', 'I mean No. 6.']],
  ['Am 5. Mai um 5 p.m. in den U.S. of A. sein', ['Am 5. Mai um 5 p.m. in den U.S. of A. sein']],
  ['Ich wohne Hauptstr. 7 im 3. Stock. Gut.', ['Ich wohne Hauptstr. 7 im 3. Stock.', 'Gut.']],
  ['I was born on Sept. 3. My sister in Dec.', ['I was born on Sept. 3.', 'My sister in Dec.']],
] as const)('splits “%s” into its sentences despite abbreviations', ([text, expected]) => {
  expect(sentencesOf(text).map((sentence) => sentence.text)).toEqual(expected)
})

test('splits a run of abbreviations in linear time', () => {
  expect(sentencesOf('a. '.repeat(100_000))).toHaveLength(1)
  expect(sentencesOf(`${'x'.repeat(100_000)}. `.repeat(3))).toHaveLength(3)
})
