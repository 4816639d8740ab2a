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
  ['I moved to Leeds yesterday', 'residence', 'Leeds'],
  ['We live at 14 Mill Lane', 'address', '14 Mill Lane'],
  ['Call me Sam', 'nickname', 'Sam'],
  ['I hate squash', 'distaste', 'squash'],
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

/** Says the pairs in turn. Returns what was replaced, with its replacement. */
async function replacedBy(
  pairs: readonly (readonly [string, string])[],
): Promise<(readonly [unknown, unknown])[]> {
  const mind = await openMind()
  for (const text of pairs.flat()) {
    await mind.say(`${text}.`)
    await mind.settle()
  }
  return mind
    .known()
    .flatMap((memory) =>
      mind.queries.predecessors(memory.memoryId).map((older) => [older.text, memory.text] as const),
    )
}

test('replaces a memory that the owner plainly restates', async () => {
  const pairs = [
    ['I live in Cardiff', 'I moved to Bristol'],
    ['My phone number is 0170 1234567', 'My phone number is 0171 7654321'],
    ['My favourite colour is blue', 'My favourite colour is green'],
    ['My birthday is on 5 May', 'I was born on 6 May 1980'],
    ['I work at Arup', 'I work for Monzo now'],
    ['My sister Ada lives in Lyon', 'My sister Ada lives in Turku'],
    ['I like tea', "I don't like tea any more"],
  ] as const
  expect(await replacedBy(pairs)).toEqual(pairs)
})

test.for([
  ['I live in Leeds', 'I now live in the Netherlands'],
  ['I live in Newcastle upon Tyne', 'I live in Frankfurt am Main'],
  ['I work for the BBC', 'I work for the Bank of England'],
  ['I work at Arup', 'I work at Marks & Spencer'],
  ['My name is bob', 'my name is rob'],
  ['My name is Ida Brandt', 'My name is Ida Ott'],
  ['My password is Tulip9', 'I changed my password to Rose7'],
  ['My wifi password is Tulip9', 'My wifi password is Rose'],
  ['My mobile is 0170 1234567', 'My mobile is +49 171 7654321'],
  ['My username is Ida', 'My username is Ida_B'],
  ['My IBAN is DE02 1203 0000', 'My IBAN is DE02 5001 0517'],
  ['My number plate is B AB 12', 'My number plate is M CD 34'],
] as const)('replaces “%s” by “%s”', async (pair) => {
  expect(await replacedBy([pair])).toEqual([pair])
})

test('keeps where “we moved to” beside where the owner lives, as it may be no place', async () => {
  const mind = await openMind()
  await mind.say('I live in Leeds.')
  await mind.say('We moved to York.')
  await mind.settle()
  expect(mind.texts()).toEqual(['I live in Leeds', 'We moved to York'])
})

test('replaces nothing by a statement that may be true beside it', async () => {
  const pairs = [
    ['My wife is Maria', 'My wife is in Paris this week'],
    ['My dentist is Dr Smith', 'My dentist is on 12 December at 10'],
    ['My mother is 83', 'My mother is Ilse'],
    ['I live in Hull', 'We moved to Gmail'],
    ['I live in Hull', "I'm living in York for the summer"],
    ['I live in Hull', 'We live at 14 Mill Lane'],
    ['I work at Arup', 'I work with Tom on Fridays'],
    ['I work at Arup', 'I work at night'],
    ['My name is Sam Archer', 'Call me later'],
    ['My name is Sam Archer', 'Call me Sammy'],
    ['I was born in Cork', 'I was born on 3 May 1980'],
    ['I am a nurse', 'I am a morning runner'],
    ['My partner is Jo', 'My partner is 41'],
    ['My boss is Karl', 'My boss is German'],
    ['My bank is Monzo', 'My bank is on Mill Lane'],
    ['My doctor is Dr Amin', 'My doctor is in Leeds on Mondays'],
    ['My birthday is on 3 May', 'My birthday is on Saturday'],
    ['My friend lives in Oslo', 'My friend lives in Rome'],
    ['My favourite café is the Zucca', 'My favourite café is on Mill Lane'],
    ['I like coffee', "I don't like coffee with sugar"],
    ['My mobile is 0170 1234567', 'My mobile is a Pixel 8'],
    ['My password is Tulip9', 'My password is in the Blue Book'],
    ['My name is Sam', 'My name is wrong on the badge'],
    ['I work at Arup', 'I work at Arup on Mondays'],
  ] as const
  expect(await replacedBy(pairs)).toEqual([])
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
