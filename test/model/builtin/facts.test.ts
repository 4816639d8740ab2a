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
  'My cousin Ines is visiting next Friday',
].map((text) => ({ text, at: null }))

const answers = (question: string) => findAnswers(question, known).map(({ text }) => text)

test.for([
  ["What is my sister's name?", ["My sister's name is Ada"]],
  ['Where does my sister live?', ['My sister lives in Rome']],
  ['What is my name?', ['My name is Max']],
  ['What is the gate code?', ['The gate code is 4711', 'The gate code is 9922']],
  ['Am I allergic to anything?', ['I am allergic to nuts']],
  ['Где живёт моя сестра?', ['Моя сестра живёт в Риме']],
  ['When is Ines coming?', ['My cousin Ines is visiting next Friday']],
  ['When is ines coming?', ['My cousin Ines is visiting next Friday']],
  ['Who is Bob?', []],
  ['What is it?', []],
  ['', []],
] as const)('answers “%s” with %j', ([question, expected]) => {
  expect(answers(question)).toEqual(expected)
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
    "We're thinking of moving to Bremen next year",
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
  expect(findAnswers(question, facts).map(({ text }) => text)).toEqual(expected)
})
