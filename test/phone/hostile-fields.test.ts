import { expect, test } from 'vitest'
import { incoming } from '../sms/sms-harness.ts'
import { startWithPhone } from './phone-harness.ts'
import { GUEST, OWNER } from './provider.ts'

const HOSTILE = '"/></Say></Message><Dial>+14155550177</Dial>\r\nX-Injected: 1\r\n\r\n\0\u0008&amp;<![CDATA['
const elementsOf = (xml: string) => [...xml.matchAll(/<(?!\?)\/?([^\s/>]+)/g)].map(([, name]) => name)

/** Expects XML with the given verbs, no injected element or header, and no forbidden character. */
function expectMarkup(
  what: string,
  { text, headers }: { text: string; headers: object },
  verbs: RegExp,
): void {
  expect([what, text]).toEqual([what, expect.stringMatching(verbs)])
  expect([what, elementsOf(text)]).not.toEqual([what, expect.arrayContaining(['Dial'])])
  expect([what, text.match(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u)]).toEqual([what, null])
  expect([what, Object.keys(headers)]).not.toEqual([what, expect.arrayContaining(['x-injected'])])
}

test('answers a call with nothing but our own markup, whatever its fields contain', async () => {
  const phone = await startWithPhone()
  const names = [
    'CallSid',
    'AccountSid',
    'From',
    'Caller',
    'To',
    'CallStatus',
    'Direction',
    'CallerName',
    'X',
  ]
  for (const [index, name] of names.entries()) {
    const fields = { ...phone.provider.call(`CA${index}`, OWNER), [name]: HOSTILE }
    const connected = await phone.provider.post('/voice-markup', fields)
    expectMarkup(
      name,
      connected,
      /^<\?xml[^>]*><Response><Connect><Stream [^<]*><Parameter [^<]*\/><\/Stream>/,
    )
    expect(elementsOf(connected.text).filter((each) => each === 'Stream')).toHaveLength(2)
    expectMarkup(
      name,
      await phone.provider.ring('CA99', GUEST),
      /<Response><Reject reason="busy"\/><\/Response>$/,
    )
    const over = { ...fields, CallStatus: 'completed', StreamEvent: name === 'X' ? HOSTILE : '' }
    expect((await phone.provider.post('/voice-status', over)).status).toBe(204)
  }
})

const REPLY = /^<\?xml[^>]*><Response>(?:<Message>[^<]*<\/Message><\/Response>)$/

test('answers a text with nothing but our own markup, whatever its fields or the reply contain', async () => {
  const phone = await startWithPhone({ environment: { TELEPHONY_ACCOUNT_SID: '' } })
  phone.text.answerWith(() => ({ text: HOSTILE }))
  const names = [
    'MessageSid',
    'AccountSid',
    'From',
    'To',
    'Body',
    'NumMedia',
    'MediaContentType0',
    'OptOutType',
  ]
  for (const [index, name] of names.entries()) {
    const more = name === 'MediaContentType0' ? { NumMedia: '1' } : {}
    const fields = { ...incoming(`SM${index}`, OWNER, 'Hello'), ...more, [name]: HOSTILE }
    const answer = await phone.provider.post('/sms', fields)
    expect([name, answer.status]).toEqual([name, 200])
    // No reply reaches a sender that is no number.
    const verbs = name === 'From' ? /^<\?xml[^>]*><Response\/>$/ : REPLY
    expectMarkup(name, answer, verbs)
  }
  for (const name of ['MessageSid', 'MessageStatus', 'ErrorCode', 'To']) {
    const fields = { MessageSid: 'SM1', MessageStatus: 'delivered', [name]: HOSTILE }
    expect([204, 400]).toContain((await phone.provider.post('/sms/status', fields)).status)
  }
})
