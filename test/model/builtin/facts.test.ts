import { expect, test } from 'vitest'
import { findAnswers } from '../../../src/model/builtin/facts.ts'

const known = [
  "My sister's name is Ada",
  'My sister lives in Rome',
  'My name is Max',
  'The gate code is 4711',
  'The gate code is 9922',
  'I am allergic to nuts',
  'Моя сестра живёт в Риме',
].map((text) => ({ text, at: null }))

const answers = (question: string) => findAnswers(question, known, () => null).map(({ text }) => text)

test.for([
  ["What is my sister's name?", ["My sister's name is Ada"]],
  ['Where does my sister live?', ['My sister lives in Rome']],
  ['What is my name?', ['My name is Max']],
  ['What is the gate code?', ['The gate code is 9922', 'The gate code is 4711']],
  ['Am I allergic to anything?', ['I am allergic to nuts']],
  ['Где живёт моя сестра?', ['Моя сестра живёт в Риме']],
  ['Who is Bob?', []],
  ['What is it?', []],
  ['', []],
] as const)('answers “%s” with %j', ([question, expected]) => {
  expect(answers(question)).toEqual(expected)
})

test('counts what the owner said only as far as it states a fact', () => {
  const said = [
    { text: 'Remember that the boiler is a Vaillant', at: null, isSaid: true },
    { text: 'Remind me tomorrow about the boiler', at: null, isSaid: true },
  ]
  const found = findAnswers('What boiler do I have?', said, (each) =>
    each.text.startsWith('Remember') ? { ...each, text: 'the boiler is a Vaillant' } : null,
  )
  expect(found.map(({ text }) => text)).toEqual(['the boiler is a Vaillant'])
})

test('drops a statement that a later one corrects', () => {
  const said = [
    'My dentist is Dr. Weber',
    'My dentist is closed on Mondays?',
    'Actually my dentist is Dr. Klein now',
    'My dentist has a dog',
  ].map((text) => ({ text, at: null }))
  const found = (question: string) => findAnswers(question, said, () => null).map(({ text }) => text)
  expect(found('Who is my dentist?')).toEqual([
    'My dentist has a dog',
    'Actually my dentist is Dr. Klein now',
  ])
})

test.for([
  ['Where do I live?', ['I moved to Hamburg last week']],
  ['what do I do for a living', ['I work at Siemens as an engineer']],
  ['What is my job?', ['I work at Siemens as an engineer']],
  ['Do I have any allergies?', ["I'm allergic to nuts"]],
  ["What's my favorite color?", ['My favourite colour is green']],
  ['What car do I drive?', ['My car is a blue Skoda']],
  ['What are my kids called?', ['Our children are Mia and Leo']],
  ['What is my name?', []],
] as const)('answers “%s” from facts in other words: %j', ([question, expected]) => {
  const facts = [
    'I moved to Hamburg last week',
    'My sister lives in Rome',
    'My brother works at Bosch',
    'I work at Siemens as an engineer',
    "I'm allergic to nuts",
    'My favourite colour is green',
    'My car is a blue Skoda',
    'Our children are Mia and Leo',
    'My dog is called Rex',
  ].map((text) => ({ text, at: null }))
  expect(findAnswers(question, facts, () => null).map(({ text }) => text)).toEqual(expected)
})
