import { expect, test } from 'vitest'
import { readPlainly } from '../../../src/memory/learn/patterns.ts'
import { sentencesOf } from '../../../src/text/text.ts'
import { openMind } from '../mind.ts'

const SPOKEN = { at: '2030-05-14T09:00:00.000Z', timezone: 'Europe/Berlin' }
const texts = (message: string) => readPlainly(message, SPOKEN).map(({ text }) => text)

test.for([
  ['Hi! My name is Ida Brandt', 'name', 'Ida Brandt'],
  ["I'm allergic to walnuts, by the way", 'allergy', 'walnuts, by the way'],
  ['We moved last year. I live in Porto now', 'residence', 'Porto'],
  ['Actually, my phone number is 0170 1234567.', 'phone number', '0170 1234567'],
  ['We moved to Leeds', 'residence', 'Leeds'],
  ['my sister Clara lives in Lyon', 'residence', 'Lyon'],
  ["My dog's name is Bello", 'dog name', 'Bello'],
  ["My mother's birthday is on 5 May", 'birthday', '5 May'],
  ['Our wedding anniversary is June 14', 'wedding anniversary', 'June 14'],
  ['My favourite tea is oolong', 'favourite tea', 'oolong'],
  ['I have a dentist appointment tomorrow at 3pm', 'appointment', 'a dentist appointment tomorrow at 3pm'],
] as const)('reads “%s”', ([message, slot, value]) => {
  expect(readPlainly(message, SPOKEN)).toMatchObject([{ slot, value }])
})

test.for([
  ['remember that the milk is in the cellar', ['the milk is in the cellar']],
  ['Please note: my new number is 0170 1234567', ['my new number is 0170 1234567']],
  ['I live in Rome and I like tea', ['I live in Rome', 'I like tea']],
  ['My sister is Ada, remember that', ['My sister is Ada']],
  ['I have an exam tomorrow at 3, remind me the evening before', ['I have an exam tomorrow at 3']],
  ['remember to buy milk', []],
  ['Do I live in Rome?', []],
  ['If I live in Rome, I like pizza', []],
  ['My day is going well', []],
  ['my back is killing me', []],
  ['I love you', []],
  ['I lived in Halifax once', []],
  ['I love young cheese', ['I love young cheese']],
] as const)('reads from “%s”: %j', ([message, expected]) => {
  expect(texts(message)).toEqual(expected)
})

test('splits sentences after their end, but not after abbreviations, and in linear time', () => {
  const sentences = (text: string) => sentencesOf(text).map((sentence) => sentence.text)
  expect(sentences('My dentist is Dr. Weber. She is nice.')).toEqual([
    'My dentist is Dr. Weber.',
    'She is nice.',
  ])
  expect(sentences('Call J. R. Smith. 好的。再见。')).toEqual(['Call J. R. Smith.', '好的。', '再见。'])
  expect(sentences('he plays in goal. pickle is seven! she said "so?" then left')).toEqual([
    'he plays in goal.',
    'pickle is seven!',
    'she said "so?"',
    'then left',
  ])
  expect(sentencesOf('a. '.repeat(100_000))).toHaveLength(1)
})

test.for([
  "The present for Ida is a kayak, but don't note that down anywhere",
  'Off the record, the present for Ida is a kayak',
  'The present for Ida is a kayak. Please do not remember this!',
])('neither learns, recalls nor finds what is said with “%s”', async (message) => {
  const mind = await openMind()
  await mind.say('Good morning')
  const { seq } = await mind.say(message, { reply: 'A kayak, how nice.' })
  await mind.settle()
  expect(mind.texts()).toEqual([])
  expect(mind.queries.isBarred(seq)).toBe(true)
  expect((await mind.say('What is the present for Ida?')).recalled.text ?? '').not.toContain('kayak')
})
