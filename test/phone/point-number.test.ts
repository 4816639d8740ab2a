import { expect, test } from 'vitest'
import type { Resource } from '../doubles/telephony/telephony-double.ts'
import { startWithTexts } from '../sms/sms-harness.ts'
import { NUMBER, PUBLIC_URL } from './provider.ts'

const VOICE = `${PUBLIC_URL}/voice-markup`
const number = (more: object = {}): Resource => ({
  sid: 'PN1',
  phone_number: NUMBER,
  voice_url: 'https://old.example.com/voice',
  sms_url: '',
  ...more,
})
const application = (sid: string, more: object = {}): Resource => ({
  sid,
  voice_url: 'https://old.example.com/voice',
  sms_url: 'https://old.example.com/sms',
  ...more,
})

async function startWithNumber(numbers: readonly Resource[], environment: Record<string, string> = {}) {
  const phone = await startWithTexts({ environment: { TELEPHONY_APP_SID: 'AP1', ...environment } })
  phone.double.numbers.push(...numbers)
  phone.double.applications.push(application('AP1'), application('AP2'))
  const { client } = phone.service
  return {
    ...phone,
    plan: () => client.get('/api/telephony/number'),
    point: () => client.post('/api/telephony/number/point'),
    posts: () => phone.double.requests.filter(({ method }) => method === 'POST').map(({ path }) => path),
  }
}

test('plans the changes to a number, applies them, and finds nothing left to do', async () => {
  const phone = await startWithNumber([number({ sms_method: 'GET' })])
  const planned = await phone.plan()
  expect(planned.json).toEqual({
    number: NUMBER,
    publicUrl: PUBLIC_URL,
    changes: [
      { name: 'voice', from: 'https://old.example.com/voice', to: VOICE },
      { name: 'call status', from: null, to: `${PUBLIC_URL}/voice-status` },
      { name: 'SMS', from: null, to: `${PUBLIC_URL}/sms` },
    ],
  })
  expect(phone.posts()).toEqual([])
  expect((await phone.point()).json).toEqual(planned.json)
  expect(phone.double.numbers).toMatchObject([
    {
      voice_url: VOICE,
      voice_method: 'POST',
      sms_url: `${PUBLIC_URL}/sms`,
      sms_method: 'POST',
      status_callback: `${PUBLIC_URL}/voice-status`,
      status_callback_method: 'POST',
    },
  ])
  expect(phone.posts()).toHaveLength(1)
  expect((await phone.point()).json.changes).toEqual([])
  expect(phone.posts()).toHaveLength(1)
})

test('updates the delegate’s own application and leaves the number unchanged', async () => {
  const phone = await startWithNumber([number({ voice_application_sid: 'AP1', sms_application_sid: 'AP1' })])
  expect((await phone.point()).status).toBe(200)
  expect(phone.double.applications[0]).toMatchObject({ voice_url: VOICE, sms_url: `${PUBLIC_URL}/sms` })
  expect(phone.double.applications[1]).toEqual(application('AP2'))
  expect(phone.posts()).toEqual(['/2010-04-01/Accounts/AC1/Applications/AP1.json'])
})

test('detaches the number from a foreign application or trunk and keeps the application', async () => {
  const phone = await startWithNumber([number({ voice_application_sid: 'AP2', trunk_sid: 'TK1' })])
  expect((await phone.plan()).json.changes.map(({ from }: { from: string }) => from)).toContain(
    'the SIP trunk TK1',
  )
  await phone.point()
  expect(phone.double.numbers).toMatchObject([
    { voice_application_sid: '', trunk_sid: '', voice_url: VOICE, sms_url: `${PUBLIC_URL}/sms` },
  ])
  expect(phone.double.applications).toEqual([application('AP1'), application('AP2')])
})

test.each([
  ['a number', {}],
  ['a number with a foreign application', { voice_application_sid: 'AP2' }],
  ['a number with a trunk', { trunk_sid: 'TK1' }],
])('leaves the connection overrides of %s as they are', async (_what, more) => {
  const own = { sms_url: `${PUBLIC_URL}/sms#rc=3&rp=all`, status_callback: `${PUBLIC_URL}/voice-status#rc=2` }
  const phone = await startWithNumber([number({ ...own, ...more })])
  expect((await phone.point()).status).toBe(200)
  expect(phone.double.numbers).toMatchObject([{ ...own, voice_url: VOICE }])
})

test('reports what is missing or refused and changes nothing', async () => {
  const noNumber = await startWithNumber([])
  expect((await noNumber.point()).json).toMatchObject({ status: 409, code: 'unknown_number' })
  const noUrl = await startWithNumber([number()], { PUBLIC_URL: 'http://delegate.example.com' })
  expect((await noUrl.point()).json).toMatchObject({ status: 409, code: 'telephony_incomplete' })
  const wrong = await startWithNumber([number()], { TELEPHONY_AUTH_TOKEN: 'another-token' })
  const answer = await wrong.point()
  expect(answer.json).toMatchObject({ status: 502, code: 'telephony_failed' })
  expect(answer.text).not.toContain('another-token')
  for (const phone of [noNumber, noUrl, wrong]) expect(phone.posts()).toEqual([])
})
