import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { testDirectory } from '../support/directory.ts'
import { script, speech } from './call/call-harness.ts'
import { ofType, type PhoneService, startWithPhone } from './phone-harness.ts'
import { GUEST, OWNER, tokenOf } from './provider.ts'

const GREETS = script({ reply: () => ({ audio: speech('caller-thanks'), transcript: 'Hello.' }) })

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const encode = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString()

/** Opens a socket to /call and sends these messages. Resolves to its close code. */
async function closedWith({ service }: PhoneService, says: readonly string[]): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}/call`)
  onTestFinished(() => socket.terminate())
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  socket.on('open', () => {
    for (const text of says) socket.send(text)
  })
  return closed
}
const start = (callSid: string, token: string) =>
  JSON.stringify({
    event: 'start',
    streamSid: 'MZ9',
    start: {
      accountSid: 'AC1',
      callSid,
      streamSid: 'MZ9',
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: { token },
    },
  })

test('rejects an unsigned, wrongly signed or misaddressed request with 403 and records nothing', async () => {
  const phone = await startWithPhone()
  const { provider } = phone
  const before = await phone.head()
  const fields = provider.call('CA1', OWNER)
  const status = { CallSid: 'CA1', CallStatus: 'completed' }
  const otherHost = {
    ...FORM,
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
  }
  const attempts = await Promise.all([
    provider.client.send('POST', '/voice-markup', encode(fields), { headers: FORM }),
    provider.post('/voice-markup', fields, { 'x-twilio-signature': 'bm9wZQ==' }),
    provider.post('/voice-markup', fields, {
      'x-twilio-signature': provider.sign('/voice-markup', fields, 'another'),
    }),
    provider.post(
      '/voice-markup',
      { ...fields, From: GUEST },
      { 'x-twilio-signature': provider.sign('/voice-markup', fields) },
    ),
    provider.client.send('POST', '/voice-markup', encode(fields), { headers: otherHost }),
    provider.client.get(`/voice-markup?${encode(fields)}`),
    provider.client.send('POST', '/voice-status', encode(status), { headers: FORM }),
    provider.post('/voice-status', status, { 'x-twilio-signature': provider.sign('/voice-markup', status) }),
  ])
  expect(attempts.map(({ status: code }) => code)).toEqual(attempts.map(() => 403))
  expect(await phone.head()).toBe(before)
})

test('rejects a mebibyte of unsigned fields without blocking others', async () => {
  const phone = await startWithPhone()
  const { client } = phone.provider
  const before = await phone.head()
  const distinct = Array.from({ length: 170_000 }, (_, at) => at.toString(36)).join('&')
  for (const content of ['a&'.repeat(500_000), distinct]) {
    // Collecting these field by field would exceed the test's time limit.
    const refused = await Promise.all(
      ['/voice-markup', '/voice-status', '/sms', '/sms/status'].map((path) =>
        client.send('POST', path, content, { headers: { ...FORM, 'x-twilio-signature': 'bm9wZQ==' } }),
      ),
    )
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400])
  }
  expect(await phone.head()).toBe(before)
})

test('accepts a signed GET like a POST, under any Host', async () => {
  const phone = await startWithPhone()
  const path = `/voice-markup?${encode(phone.provider.call('CA1', OWNER))}`
  const answer = await phone.provider.client.get(path, {
    headers: { 'x-twilio-signature': phone.provider.sign(path, {}), host: 'internal:8081' },
  })
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toContain('text/xml')
  expect(answer.text).toContain('<Stream url="wss://delegate.example.com/call"')
})

test('accepts a repeated webhook as one call, and ignores it after the end or a restart', async () => {
  const directory = testDirectory()
  const phone = await startWithPhone({ directory, script: GREETS })
  const answers = await Promise.all(Array.from({ length: 20 }, () => phone.provider.ring('CA1', OWNER)))
  expect(new Set(answers.map(({ text }) => tokenOf(text))).size).toBe(1)
  expect(ofType(await phone.events(), 'call.offered')).toHaveLength(1)
  expect(
    ofType(await phone.events(), 'span.opened').filter(({ payload }) => payload.kind === 'call'),
  ).toHaveLength(1)
  const caller = await phone.stream('CA1', tokenOf(answers[0]?.text ?? ''))
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  expect((await phone.provider.ring('CA1', OWNER)).text).toContain('<Reject')
  caller.hangUp()
  await phone.eventsUntil('the end', (all) => ofType(all, 'span.closed').length > 0)
  const before = await phone.head()
  expect((await phone.provider.ring('CA1', OWNER)).text).toContain('<Reject')
  expect(await phone.head()).toBe(before)
  await phone.service.stop()

  const again = await startWithPhone({ directory })
  expect((await again.provider.ring('CA1', OWNER)).text).toContain('<Reject')
  expect(ofType(await again.events(), 'call.offered')).toHaveLength(1)
})

test('rejects a repeated webhook of a rejected call, even if the line is free', async () => {
  const phone = await startWithPhone()
  await phone.provider.ring('CA1', OWNER)
  expect((await phone.provider.ring('CA2', OWNER)).text).toContain('<Reject')
  await phone.provider.post('/voice-status', { CallSid: 'CA1', CallStatus: 'completed' })
  expect((await phone.provider.ring('CA2', OWNER)).text).toContain('<Reject')
  expect(ofType(await phone.events(), 'call.offered')).toHaveLength(1)
})

test('records each call status once, even for a call that was not accepted', async () => {
  const phone = await startWithPhone()
  await phone.provider.ring('CA1', OWNER)
  const report = (fields: Readonly<Record<string, string>>) => phone.provider.post('/voice-status', fields)
  for (const status of ['ringing', 'in-progress', 'in-progress', 'Robert"); --'])
    expect((await report({ CallSid: 'CA1', CallStatus: status })).status).toBe(204)
  await report({ CallSid: 'CA1', StreamSid: 'MZ1', StreamEvent: 'stream-error', StreamError: 'gone' })
  const all = await phone.eventsUntil('the end', (events) => ofType(events, 'call.ended').length === 1)
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'not_connected' } }])
  const { lines } = (await phone.service.client.get('/api/logs?level=warn')).json
  expect(JSON.stringify(lines)).toContain('the line of a call failed')
  expect(JSON.stringify(lines)).toContain('gone')
  expect(
    ofType(all, 'call.status.reported').map(({ internal, payload }) => [
      internal,
      payload.of,
      payload.status,
    ]),
  ).toEqual([
    [true, 'call', 'ringing'],
    [true, 'call', 'in_progress'],
    [true, 'stream', 'stream_error'],
  ])
  // One call was rejected as busy, and one the provider handled without us.
  for (const callSid of ['CA8', 'CA9']) {
    for (let times = 0; times < 2; times += 1)
      expect((await report({ CallSid: callSid, CallStatus: 'busy' })).status).toBe(204)
  }
  await report({ CallSid: '', CallStatus: 'busy' })
  expect(
    ofType(await phone.events(), 'call.status.reported')
      .slice(3)
      .map(({ spanId, conversationId, payload }) => [
        payload.callSid,
        payload.status,
        spanId,
        conversationId,
      ]),
  ).toEqual([
    ['CA8', 'busy', null, null],
    ['CA9', 'busy', null, null],
  ])
})

test('verifies a JSON report by the body hash in the signed address', async () => {
  const phone = await startWithPhone()
  await phone.provider.ring('CA1', OWNER)
  const post = (content: string, signed: string) => {
    const path = `/voice-status?bodySHA256=${createHash('sha256').update(signed).digest('hex')}`
    return phone.provider.client.send('POST', path, content, {
      headers: { 'content-type': 'application/json', 'x-twilio-signature': phone.provider.sign(path, {}) },
    })
  }
  const report = JSON.stringify({ CallSid: 'CA1', CallStatus: 'completed', Timestamp: 5, Extra: { a: [] } })
  const other = report.replace('completed', 'busy')
  expect((await post(other, report)).status).toBe(403)
  expect(ofType(await phone.events(), 'call.status.reported')).toEqual([])
  expect((await post(report, report)).status).toBe(204)
  await phone.eventsUntil('the end', (all) => ofType(all, 'call.ended').length === 1)
  for (const content of ['[]', '"text"', 'null']) expect((await post(content, content)).status).toBe(204)
})

test('treats calls from any number but the exact owner’s as a guest’s', async () => {
  const phone = await startWithPhone()
  const froms = [
    '',
    '+1',
    OWNER.slice(1),
    `${OWNER}0`,
    `0${OWNER}`,
    ` ${OWNER}`,
    'client:owners',
    'anonymous',
  ]
  for (const [index, from] of froms.entries()) {
    await phone.provider.ring(`CA${index}`, from)
    await phone.provider.post('/voice-status', { CallSid: `CA${index}`, CallStatus: 'completed' })
  }
  const parties = ofType(await phone.events(), 'call.offered').map(({ payload }) => payload.party)
  expect(parties).toEqual(froms.map(() => 'guest'))
  await phone.provider.ring('CA98', 'client:owner')
  expect(ofType(await phone.events(), 'call.offered').at(-1).payload.party).toBe('owner')
})

test('keeps markup inside a field as text', async () => {
  const phone = await startWithPhone({ environment: { GUEST_DAILY_MESSAGES: '0' } })
  const hostile = `</Say><Dial>+1</Dial>\r\n\0&amp;<![CDATA[`
  for (const name of ['From', 'CallSid', 'AccountSid']) {
    const answer = await phone.provider.post('/voice-markup', {
      ...phone.provider.call('CA1', GUEST),
      [name]: hostile,
    })
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('<Dial')
    expect(answer.text).toMatch(/^<\?xml[^>]*><Response>(<Say>[^<]*<\/Say><Hangup\/>)<\/Response>$/)
  }
})

test('rejects every webhook without an auth token and records nothing', async () => {
  const phone = await startWithPhone({ environment: { TELEPHONY_AUTH_TOKEN: '' } })
  const before = await phone.head()
  const { client, call } = phone.provider
  const form = (path: string) => client.send('POST', path, encode(call('CA1', OWNER)), { headers: FORM })
  const answers = await Promise.all([
    ...['/voice-markup', '/voice-status', '/sms', '/sms/status'].map(form),
    client.get('/voice-markup?CallSid=CA1'),
  ])
  for (const { status, json } of answers)
    expect([status, json.code]).toEqual([403, 'telephony_not_configured'])
  expect(await phone.head()).toBe(before)
})

test('serves only this machine with the development routes and without an auth token', async () => {
  const phone = await startWithPhone({ environment: { TELEPHONY_AUTH_TOKEN: '', DEV_ROUTES: '1' } })
  const body = encode(phone.provider.call('CA1', OWNER))
  const ask = (headers: Record<string, string>) =>
    phone.provider.client.send('POST', '/voice-markup', body, { headers: { ...FORM, ...headers } })
  for (const headers of [
    { 'x-forwarded-for': '203.0.113.9' },
    { host: 'delegate.example.com' },
    { origin: 'https://evil.example' },
  ])
    expect((await ask(headers)).json.code).toBe('telephony_not_configured')
  expect(ofType(await phone.events(), 'call.offered')).toEqual([])
  expect((await ask({})).text).toContain('<Stream')
  expect(ofType(await phone.events(), 'call.offered')).toMatchObject([{ payload: { party: 'owner' } }])
})

test('matches a call announced without an id by its token', async () => {
  const phone = await startWithPhone({
    environment: { TELEPHONY_AUTH_TOKEN: '', DEV_ROUTES: '1' },
    script: GREETS,
  })
  const token = tokenOf((await phone.provider.client.get('/voice-markup')).text)
  await phone.stream('CA1', token)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
})

test('tells the caller that the Public URL is missing and hangs up', async () => {
  const spoken = (text: string) => text.match(/<Say>([^<]*)<\/Say><Hangup\/>/)?.[1]
  const noUrl = await startWithPhone({
    environment: { TELEPHONY_AUTH_TOKEN: '', PUBLIC_URL: '', DEV_ROUTES: '1' },
  })
  expect(spoken((await noUrl.provider.client.get('/voice-markup')).text)).toContain('public address')
})

test('refuses callbacks that cannot be verified without a Public URL', async () => {
  const phone = await startWithPhone({ environment: { PUBLIC_URL: '' } })
  const before = await phone.head()
  const headers = { ...FORM, 'x-twilio-signature': 'bm9wZQ==' }
  for (const path of ['/voice-status', '/relay-ended', '/sms', '/sms/status']) {
    const body = encode({ CallSid: 'CA1', CallStatus: 'completed', From: OWNER })
    const { status, json } = await phone.provider.client.send('POST', path, body, { headers })
    expect([path, status, json.code]).toEqual([path, 403, 'bad_signature'])
  }
  expect(await phone.head()).toBe(before)
})

test('refuses an unsigned form before it reads its fields', async () => {
  const { provider } = await startWithPhone()
  const fields = encode(Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`F${index}`, 'x'])))
  const { status } = await provider.client.send('POST', '/sms', fields, { headers: FORM })
  expect(status).toBe(403)
})

test('connects a call without a realtime model, and explains after the stream ends', async () => {
  const phone = await startWithPhone({ environment: { REALTIME_MODEL: '' } })
  const markup = (await phone.provider.ring('CA1', OWNER)).text
  expect(markup).toMatch(/<Connect><Stream url="wss:\/\/delegate\.example\.com\/call"/)
  expect(markup).toMatch(
    /<\/Connect><Say>This assistant[^<]*no model that hears and speaks[^<]*<\/Say><Hangup\/>/,
  )
  expect((await phone.provider.ring('CA2', GUEST)).text).toContain('<Reject reason="busy"/>')
  expect(await closedWith(phone, [start('CA1', 'not the token')])).toBe(1008)
  const caller = await phone.stream('CA1', tokenOf(markup))
  expect((await caller.closed).code).toBe(1000)
  const events = await phone.eventsUntil('the end', (seen) => ofType(seen, 'call.ended').length === 1)
  expect(ofType(events, 'call.ended')).toMatchObject([{ payload: { reason: 'no_realtime_model' } }])
  expect(ofType(events, 'span.closed')).toMatchObject([{ payload: { reason: 'failed' } }])
  expect((await phone.provider.ring('CA3', OWNER)).text).toContain('<Stream')
})

test('accepts at most the daily number of calls, because caller numbers can be forged', async () => {
  const phone = await startWithPhone({ environment: { DAILY_CALLS: '1' } })
  expect((await phone.provider.ring('CA1', OWNER)).text).toContain('<Stream')
  // Repeating the request for the same call does not count.
  expect((await phone.provider.ring('CA1', OWNER)).text).toContain('<Stream')
  await phone.provider.post('/voice-status', { CallSid: 'CA1', CallStatus: 'canceled' })
  expect((await phone.provider.ring('CA2', OWNER)).text).toContain('any more calls today')
  expect(ofType(await phone.events(), 'call.rejected')).toMatchObject([
    { payload: { reason: 'budget', party: 'owner' } },
  ])
})

test('limits guests per day and says so; the owner’s limit is larger', async () => {
  const phone = await startWithPhone({ environment: { GUEST_DAILY_MESSAGES: '1' } })
  expect((await phone.provider.ring('CA1', GUEST)).text).toContain('<Stream')
  await phone.provider.post('/voice-status', { CallSid: 'CA1', CallStatus: 'canceled' })
  expect((await phone.provider.ring('CA2', '+14155550155')).text).toContain('any more calls today')
  expect((await phone.provider.ring('CA3', OWNER)).text).toContain('<Stream')
  expect(ofType(await phone.events(), 'call.rejected')).toEqual([])
})

test('counts a guest’s repeated calls against their own share, even while the line is busy', async () => {
  const phone = await startWithPhone({ environment: { GUEST_DAILY_MESSAGES: '10' } })
  await phone.provider.ring('CA0', OWNER)
  for (let index = 1; index < 20; index += 1) await phone.provider.ring(`CA${index}`, GUEST)
  await phone.provider.post('/voice-status', { CallSid: 'CA0', CallStatus: 'canceled' })
  expect((await phone.provider.ring('CA20', GUEST)).text).toContain('any more calls today')
  expect((await phone.provider.ring('CA21', '+14155550155')).text).toContain('<Stream')
  const rejected = ofType(await phone.events(), 'call.rejected').map(({ payload }) => payload.reason)
  expect(rejected).toEqual(['busy', 'busy', 'busy'])
})

test('closes a stream with a missing, used or foreign token and keeps the call', async () => {
  const phone = await startWithPhone({ script: GREETS })
  expect(await closedWith(phone, [])).toBe(1008)
  const token = tokenOf((await phone.provider.ring('CA1', OWNER)).text)
  expect(await closedWith(phone, [start('CA1', '')])).toBe(1008)
  expect(await closedWith(phone, [start('CA1', 'x'.repeat(43))])).toBe(1008)
  expect(await closedWith(phone, [start('CA2', token)])).toBe(1008)
  expect(await closedWith(phone, ['not json'])).toBe(1008)
  expect(await closedWith(phone, ['x'.repeat(65 * 1024)])).toBe(1009)
  const caller = await phone.stream('CA1', token)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  expect(await closedWith(phone, [start('CA1', token)])).toBe(1008)
  await caller.say(speech('caller-question'))
  await phone.eventsUntil('the call to continue', (all) => ofType(all, 'call.reply.spoken').length === 2)
  expect(phone.realtime.sessions()).toBe(1)
})

test('closes a stream that sends nothing, although a call is expected', async () => {
  const phone = await startWithPhone({ waits: { streamStartMs: 100 } })
  await phone.provider.ring('CA1', OWNER)
  expect(await closedWith(phone, [])).toBe(1008)
})

test('keeps the next call unaffected by sockets that never start, and records at most one fact', {
  tags: ['long'],
}, async () => {
  const phone = await startWithPhone({ script: GREETS })
  const before = await phone.head()
  const codes = await Promise.all(Array.from({ length: 200 }, () => closedWith(phone, [])))
  expect(new Set(codes)).toEqual(new Set([1008]))
  expect(await phone.head()).toBe(before)
  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  caller.hangUp()
})

test('records the end of a call when the service stops, and frees the slot', async () => {
  const directory = testDirectory()
  const phone = await startWithPhone({ directory, script: GREETS })
  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  await phone.service.stop()
  await caller.closed
  const again = await startWithPhone({ directory })
  const all = await again.events()
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'service_stopping' } }])
  expect(ofType(all, 'span.closed').at(-1).payload.reason).toBe('interrupted')
  expect((await again.provider.ring('CA2', OWNER)).text).toContain('<Stream')
})
