import { expect, test } from 'vitest'
import { asksNotToKeep } from '../../src/text/secrecy.ts'

test.each([
  'Please don’t keep this: my PIN is 4471',
  'My PIN is 4471, but do not remember that',
  'Off the record: I have asked for a pay rise',
  'Between us, mum gave me the combination of her safe',
  'You must never store that',
  'I would rather not keep this',
  'The doctor said: my HIV test is positive. Don’t keep this.',
  'I don’t want you to keep this: I have a new job',
  'You should not remember this. I am ill.',
  'Please forget this: my code is 4410',
  'My code is 4410 (off-the-record)',
  'Don´t keep this: my code is 4410',
  'Don`t save my bank PIN: 3141',
  'Mum is ill, don’t ever keep this',
  'Don’t make a note of this',
  'I’d rather you didn’t keep this',
  'Let’s keep that between us',
  'Meine PIN ist 4821, bitte merk dir das nicht.',
  'Behalte das nicht.',
  'Mein Code ist 4410, behalte das bitte nicht für dich',
  'Speichere meine PIN nicht: 4821',
  'Ich habe gekündigt, das bitte nicht speichern',
  'Du musst dir das nicht merken',
  'Bitte vergiss das: mein Code ist 4410',
  'Unter uns: Mama ist krank',
  'Bitte nirgends speichern: ich verdiene 5900',
])('reads the wish not to keep “%s”', (text) => {
  expect(asksNotToKeep(text)).toBe(true)
})

test.each([
  'The code for the gate is 5093, I can never remember it',
  'I don’t remember that',
  'I said “don’t keep this” yesterday. My cat is called Mauzi.',
  'We never write it down, so please keep it: the tank holds 60 litres',
  'You don’t know that yet, but Ida moved to Turku',
  'Between us we have three cars',
  'I really don’t remember that film',
  'Don’t remember it',
  'Don’t forget this: my code is 4410',
  'Don’t ever forget this: my code is 4410',
  'Remember not to forget this: my code is 4410',
  'Merk dir ich mag Spinat nicht',
  'Bob mailed:\n> this is off the record\nI live in Porto',
  'Ich merke mir das nicht',
  'Nein, vergiss das, das war gelogen',
  'Merk dir dass ich Fisch nicht mag',
  'Vergiss das nicht: mein Code ist 4410',
  'Ich kann mir das nicht merken',
  'Unter uns wohnt Frau Ott',
])('reads no such wish in “%s”', (text) => {
  expect(asksNotToKeep(text)).toBe(false)
})
