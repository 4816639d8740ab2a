import webhooks from 'twilio/lib/webhooks/webhooks.js'
import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { incoming } from '../sms/sms-harness.ts'
import { ofType, type PhoneService, startWithPhone } from './phone-harness.ts'
import { AUTH_TOKEN, type Fields, GUEST, OWNER } from './provider.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** All facts except the per-minute counts of refused requests. */
function factsOf({ service }: PhoneService): string[] {
  const db = openLedgerReadOnly(service.directory)
  const facts = createReader(db).readAfter(0, 10_000)
  db.close()
  return facts.filter(({ type }) => type !== 'intrusion.counted').map(({ seq, type }) => `${seq} ${type}`)
}

const call: Fields = { CallSid: 'CA1', AccountSid: 'AC1', From: OWNER, CallStatus: 'ringing' }
const webhookRequests: readonly (readonly [method: 'GET' | 'POST', path: string, fields: Fields])[] = [
  ['POST', '/sms', incoming('SM1', OWNER, 'Hello')],
  ['POST', '/sms/status', { MessageSid: 'SM1', MessageStatus: 'delivered' }],
  ['POST', '/voice-status', { ...call, CallStatus: 'completed' }],
  ['POST', '/relay-ended', { ...call, SessionStatus: 'failed', CallStatus: 'in-progress' }],
  ['POST', '/voice-markup', call],
  ['GET', '/voice-markup', call],
]

test.each(webhookRequests)(
  'rejects %s %s without the provider’s signature for the Public URL with 403 and records nothing',
  async (method, path, fields) => {
    const phone = await startWithPhone()
    const { port } = phone.service
    const form = new URLSearchParams(fields).toString()
    const target = method === 'GET' ? `${path}?${form}` : path
    const posted = method === 'GET' ? {} : fields
    const signed = (origin: string, more: { fields?: Fields; token?: string; target?: string } = {}) => ({
      'x-twilio-signature': webhooks.getExpectedTwilioSignature(
        more.token ?? AUTH_TOKEN,
        origin + (more.target ?? target),
        more.fields ?? posted,
      ),
    })
    const publicUrl = 'https://delegate.example.com'
    const attempts: Record<string, Record<string, string>> = {
      unsigned: {},
      'unsigned, from another host': { host: 'evil.example' },
      empty: { 'x-twilio-signature': '' },
      wrong: { 'x-twilio-signature': 'bm9wZQ==' },
      'with another token': signed(publicUrl, { token: 'another' }),
      'for another path': signed(publicUrl, { target: `${target}x` }),
      'for other fields': signed(publicUrl, { fields: { ...posted, Extra: '1' } }),
      // An attacker could get a URL of their own signed for their own provider account.
      'for the Host': { ...signed('https://evil.example'), host: 'evil.example' },
      'for the Host, over http': { ...signed('http://evil.example'), host: 'evil.example' },
      'for the forwarded host': {
        ...signed('https://evil.example'),
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
      },
      'for the forwarded port': { ...signed(`${publicUrl}:8443`), 'x-forwarded-port': '8443' },
      'for what Forwarded names': {
        ...signed('https://evil.example'),
        forwarded: 'host=evil.example;proto=https',
      },
      'for the address that it listens on': signed(`http://127.0.0.1:${port}`),
    }
    const ask = (headers: Record<string, string>) =>
      method === 'GET'
        ? phone.provider.client.get(target, { headers })
        : phone.provider.client.send(method, target, form, { headers: { ...FORM, ...headers } })
    const before = factsOf(phone)
    for (const [how, headers] of Object.entries(attempts)) {
      const { status, json } = await ask(headers)
      expect([how, status, json?.code]).toEqual([how, 403, 'bad_signature'])
    }
    expect(factsOf(phone)).toEqual(before)
    // A valid signature is accepted, so only the signature was wrong.
    const taken = await ask({
      ...signed(publicUrl),
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
    })
    expect(taken.status).toBeLessThan(300)
    expect(factsOf(phone)).not.toEqual(before)
  },
)

test('treats texts from any number but the exact owner’s as a guest’s', async () => {
  const phone = await startWithPhone()
  const froms = ['', '+1', OWNER.slice(1), `${OWNER}0`, `0${OWNER}`, ` ${OWNER}`, `${OWNER} `, `+1${OWNER}`]
  froms.push(OWNER.slice(2), `sms:${OWNER}`, `${OWNER},${GUEST}`, 'client:owners', 'anonymous', GUEST)
  for (const [index, from] of froms.entries())
    await phone.provider.post('/sms', incoming(`SM${index}`, from, 'HELP'))
  const texts = (await phone.events()).filter(({ type }) => type.startsWith('sms.'))
  expect(texts.map(({ type, payload }) => [type, payload.party])).toEqual(
    froms.map(() => ['sms.ignored', 'guest']),
  )
  await phone.provider.post('/sms', incoming('SM98', OWNER, 'It is me.'))
  expect(ofType(await phone.events(), 'sms.received')).toMatchObject([{ payload: { party: 'owner' } }])
})
