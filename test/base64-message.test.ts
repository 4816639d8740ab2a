import { expect, test } from 'vitest'
import { createEnvelope, createTemplate } from '../src/base64-message.ts'

const places = [
  { key: 'at', kind: 'digits' },
  { key: 'audio', kind: 'base64' },
  { key: 'id', kind: 'word', optional: true },
] as const

function learned(text: string) {
  const template = createTemplate(places)
  template.learn(Buffer.from(text))
  return (other: string) => {
    const bytes = Buffer.from(other)
    if (!template.fits(bytes)) return null
    return places.map((_, place) => other.slice(template.start(place), template.end(place)))
  }
}

const plain = '{"id":"a","audio":"AAAA","at":"1","x":2}'

test('what differs in its places alone fits, in whatever order they stand', () => {
  expect(learned(plain)('{"id":"b_2","audio":"//8=","at":"23","x":2}')).toEqual(['23', '//8=', 'b_2'])
  expect(learned(plain)(plain)).toEqual(['1', 'AAAA', 'a'])
})

test.each([
  '{"id":"a","audio":"AAAA","at":"1","x":3}',
  '{"id":"a","audio":"AAAA","at":"1","x":2} ',
  '{"id":"a","audio":"AAAA","at":"1","x":2',
  '{"id":"a","audio":"AAAA","at":"","x":2}',
  '{"id":"","audio":"AAAA","at":"1","x":2}',
  '{"id":"a","audio":"AAA","at":"1","x":2}',
  '{"id":"a","audio":"A===","at":"1","x":2}',
  '{"id":"a","audio":"AA=A","at":"1","x":2}',
  '{"id":"a","audio":"AAAA","at":"1234567890123","x":2}',
  '{"id":"a","audio":"AAAA","at":"1","at":"2","x":2}',
  '{"audio":"AAAA","at":"1","x":2}',
  `{"id":"${'a'.repeat(201)}","audio":"AAAA","at":"1","x":2}`,
  '',
])('%s does not', (text) => {
  expect(learned(plain)(text)).toBeNull()
})

test.each([
  ['an escape', '{"id":"a","audio":"AAAA","at":"1","x":"\\n"}'],
  ['a place that is no string', '{"id":"a","audio":"AAAA","at":1}'],
  ['a place twice', '{"audio":"AAAA","at":"1","y":{"at":"2"}}'],
  ['a place’s name as a string', '{"audio":"AAAA","at":"1","y":"audio"}'],
  ['a character of more than a byte', '{"audio":"AAAA","at":"1","y":"é"}'],
  ['no audio', '{"at":"1"}'],
])('%s is nothing to learn from', (_what, text) => {
  expect(learned(text)(text)).toBeNull()
})

test('messages of which none is like the one before it are looked at no more', () => {
  const template = createTemplate(places)
  for (let index = 0; index < 16; index += 1) {
    const message = Buffer.from(`{"audio":"AAAA","at":"1","x":${index}}`)
    expect(template.fits(message)).toBe(false)
    template.learn(message)
    if (index === 0) expect(template.fits(message)).toBe(true)
  }
  const last = Buffer.from('{"audio":"AAAA","at":"1","x":16}')
  template.learn(last)
  template.learn(last)
  expect(template.fits(last)).toBe(false)
})

test('an envelope is filled anew while nobody holds its last message', () => {
  const envelope = createEnvelope('<ü', '>')
  const first = envelope.wrap('AAAA')
  expect(first.toString()).toBe('<üAAAA>')
  expect(envelope.wrap('////').toString()).toBe('<ü////>')
  expect(first.toString()).toBe('<ü////>')
  envelope.giveAway()
  const next = envelope.wrap('BBBB')
  expect([first.toString(), next.toString()]).toEqual(['<ü////>', '<üBBBB>'])
  expect(envelope.wrap('').toString()).toBe('<ü>')
})
