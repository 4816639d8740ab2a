import fc from 'fast-check'
import { expect, test } from 'vitest'
import { busyMarkup, connectMarkup, messageMarkup, sayMarkup } from '../../../src/phone/line/markup.ts'

/** The names of the elements, in document order. */
function elements(xml: string): readonly string[] {
  return [...xml.matchAll(/<([A-Za-z]+)/g)].map((match) => match[1] ?? '')
}

test('connects a call to the stream with its token, and speaks a farewell if the bridge is lost', () => {
  const xml = connectMarkup({
    streamUrl: 'wss://delegate.example/call',
    token: 'secret-token',
    statusUrl: 'https://delegate.example/voice-status',
  })
  expect(elements(xml)).toEqual(['Response', 'Connect', 'Stream', 'Parameter', 'Say', 'Hangup'])
  expect(xml).toContain('url="wss://delegate.example/call"')
  expect(xml).toContain('<Parameter name="token" value="secret-token"/>')
  expect(xml).toContain('<Say>I lost the connection.')
  expect(xml).toContain('statusCallback="https://delegate.example/voice-status"')
})

test('rejects as busy with the first and only verb, so that the call is neither answered nor billed', () => {
  expect(elements(busyMarkup())).toEqual(['Response', 'Reject'])
  expect(busyMarkup()).toContain('<Reject reason="busy"/>')
})

test('speaks an explanation and hangs up', () => {
  expect(elements(sayMarkup('No line.'))).toEqual(['Response', 'Say', 'Hangup'])
})

test('escapes any text: the markup stays well-formed and gains no verb', () => {
  const evil = '</Say><Dial>+15550100</Dial><Say>\r\n\u0000\u0008\uFFFF\uD800&amp;"\''
  const xml = sayMarkup(evil)
  expect(elements(xml)).toEqual(['Response', 'Say', 'Hangup'])
  expect(elements(messageMarkup(evil))).toEqual(['Response', 'Message'])
  expect(elements(connectMarkup({ streamUrl: `wss://x/${evil}`, token: evil, farewell: evil }))).toEqual(
    elements(connectMarkup({ streamUrl: 'wss://x/', token: 't' })),
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const said = sayMarkup(text)
      expect(elements(said)).toEqual(['Response', 'Say', 'Hangup'])
      const texted = messageMarkup(text)
      expect(elements(texted)).toEqual(['Response', 'Message'])
      for (const xml of [said, texted])
        expect(xml).not.toMatch(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u)
    }),
  )
})
