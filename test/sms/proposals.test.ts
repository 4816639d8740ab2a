import { expect, test } from 'vitest'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import { ofType } from '../phone/phone-harness.ts'
import { ACCOUNT, AUTH_TOKEN, OWNER } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import { startWithTexts, text } from './sms-harness.ts'

type Texts = Awaited<ReturnType<typeof startWithTexts>>

const TO = '+14155550177'
const call = { toolCalls: [{ name: 'send_sms', arguments: { to: TO, text: 'I am late.' } }] }

/** Asks for the text in the browser; returns the tool's reason and the open proposals. */
async function ask(phone: Texts, content = `Text ${TO} that I am late`) {
  phone.text.reply(call, { text: 'It waits for you.' })
  await phone.service.client.post('/api/chat', { content })
  const returned = ofType(await phone.events(), 'tool.returned').at(-1)
  return { reason: returned.payload.reason, waiting: await waiting(phone) }
}
const waiting = async ({ service }: Texts) => (await service.client.get('/api/proposals')).json.proposals
const press = ({ service }: Texts, id: string, word: 'confirm' | 'decline') =>
  service.client.post(`/api/proposals/${id}/${word}`)

test('holds a text to someone else, which no words in chat or by text can release', async () => {
  const phone = await startWithTexts()
  const first = await ask(phone)
  expect(first.reason).toBe('needs_confirmation')
  expect(first.waiting).toMatchObject([{ kind: 'sms', target: TO, text: 'I am late.', status: 'open' }])
  expect((await ask(phone, `Yes, send it to ${TO}`)).waiting).toEqual(first.waiting)
  phone.text.reply(call, { text: 'It waits for you.' })
  await text(phone, 'SM1', OWNER, `Yes, send it to ${TO}`)
  await phone.eventsUntil('the answer', (all) => ofType(all, 'sms.sent').length === 1)
  expect(await waiting(phone)).toEqual(first.waiting)
  expect(phone.double.messages.map((message) => message.to)).toEqual([OWNER])
})

test('sends a confirmed text once, however often it is confirmed', async () => {
  const phone = await startWithTexts()
  const [{ id }] = (await ask(phone)).waiting
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => press(phone, id, index === 7 ? 'decline' : 'confirm')),
  )
  const codes = answers.map(({ status }) => status).sort()
  expect(codes).toEqual([200, ...Array.from({ length: 9 }, () => 409)])
  const all = await phone.eventsUntil('the text', (events) => ofType(events, 'sms.sent').length === 1)
  expect(phone.double.messages).toMatchObject([{ to: TO, body: 'I am late.' }])
  const [confirmed] = ofType(all, 'proposal.confirmed')
  expect(confirmed).toMatchObject({ channel: 'chat', payload: { proposalId: id } })
  expect(ofType(all, 'sms.sent')).toMatchObject([
    { conversationId: confirmed.conversationId, payload: { party: 'guest', to: TO } },
  ])
  expect((await press(phone, id, 'confirm')).json).toMatchObject({ code: 'proposal_settled' })
  expect(await waiting(phone)).toEqual([])
  phone.text.reply({ text: 'It went out.' })
  await phone.service.client.post('/api/chat', { content: 'Did it go out?' })
  expect(turnRequests(phone.text).at(-1)?.text).toContain('let the proposed text to')
})

test('never sends a declined text, tells the delegate, and answers 404 for an unknown proposal', async () => {
  const phone = await startWithTexts()
  const [{ id }] = (await ask(phone)).waiting
  expect((await press(phone, id, 'decline')).json).toMatchObject({ status: 'declined' })
  expect((await press(phone, id, 'confirm')).json).toMatchObject({ code: 'proposal_settled' })
  expect((await press(phone, 'nothing', 'confirm')).status).toBe(404)
  await phone.service.client.post('/api/chat', { content: 'And?' })
  expect(turnRequests(phone.text).at(-1)?.text).toContain('declined the proposed text')
  expect(phone.double.messages).toEqual([])
  expect((await ask(phone)).waiting).toMatchObject([{ text: 'I am late.', status: 'open' }])
})

test('keeps a proposal through a restart and expires it after a day', async () => {
  const directory = testDirectory()
  const double = await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN })
  let nowMs = Date.now()
  const first = await startWithTexts({ directory, double, nowMs: () => nowMs })
  const asked = (await ask(first)).waiting
  await first.service.stop()

  const phone = await startWithTexts({ directory, double, nowMs: () => nowMs })
  expect(await waiting(phone)).toEqual(asked)
  nowMs += 24 * 60 * 60_000 + 1
  expect(await waiting(phone)).toEqual([])
  await phone.service.client.post('/login', { password: 'a long walk by the river' })
  expect((await press(phone, asked[0].id, 'confirm')).json).toMatchObject({ code: 'proposal_expired' })
  expect(ofType(await phone.events(), 'delivery.requested')).toEqual([])
})

test('cannot confirm a proposal whose request was erased', async () => {
  const phone = await startWithTexts()
  const [{ id }] = (await ask(phone)).waiting
  const [made] = ofType(await phone.events(), 'proposal.made')
  await phone.service.client.send('DELETE', `/api/timeline/spans/${made.spanId}`)
  expect((await press(phone, id, 'confirm')).status).toBe(404)
  expect(phone.double.messages).toEqual([])
})

test('rejects a confirmation without a session', async () => {
  const phone = await startWithTexts()
  const [{ id }] = (await ask(phone)).waiting
  expect((await phone.provider.client.post(`/api/proposals/${id}/confirm`)).status).toBe(401)
  expect(await waiting(phone)).toHaveLength(1)
})

test('adds to a list, snoozes and ticks off what is due by text, but asks before it takes anything away', async () => {
  const phone = await startWithTexts()
  const { client } = phone.service
  await client.post('/api/notes', { title: 'Shopping list', content: '- milk' })
  for (const title of ['Soup', 'Cat']) {
    await client.post('/api/timers', { title, at: new Date(Date.now() + 50).toISOString() })
    phone.text.reply({ text: '[silent]' })
  }
  await phone.eventsUntil('the reminders', (all) => ofType(all, 'activation.completed').length === 2)
  const note = { query: 'shopping list', title: null, content: null, append: null, remove: null }
  const timer = { query: null, title: null, at: null, by_minutes: null, recurrence: null, done: null }
  const texted = async (index: number, name: string, args: object) => {
    phone.text.reply({ toolCalls: [{ name, arguments: args }] }, { text: 'Well.' })
    await text(phone, `SM${index}`, OWNER, 'As I said')
    const all = await phone.eventsUntil('the answer', (each) => ofType(each, 'sms.sent').length === index)
    return ofType(all, 'tool.returned').at(-1).payload.outcome
  }
  expect(await texted(1, 'update_note', { ...note, append: '- bread' })).toBe('ok')
  expect(await texted(2, 'change_timer', { ...timer, query: 'Soup', by_minutes: 60 })).toBe('ok')
  expect(await texted(3, 'change_timer', { ...timer, query: 'Cat', done: true })).toBe('ok')
  expect(await waiting(phone)).toEqual([])
  expect(await texted(4, 'update_note', { ...note, append: '- jam', remove: '- milk' })).toBe('refused')
  expect(await texted(5, 'change_timer', { ...timer, query: 'Soup', at: '2099-01-01T09:00' })).toBe('refused')
  expect(await waiting(phone)).toHaveLength(2)
  const [{ id }] = (await client.get('/api/notes')).json.notes
  expect((await client.get(`/api/notes/${id}`)).json.content).toBe('- milk\n- bread')
})

test('reads a number as people write it', async () => {
  const phone = await startWithTexts()
  const to = '+44 (0)7700 900-177'
  phone.text.reply(
    { toolCalls: [{ name: 'send_sms', arguments: { to, text: 'Late.' } }] },
    { text: 'It waits.' },
  )
  await phone.service.client.post('/api/chat', { content: `Text ${to} that I am late` })
  expect(await waiting(phone)).toMatchObject([{ target: '+447700900177', text: 'Late.' }])
})
