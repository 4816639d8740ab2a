import { expect, test } from 'vitest'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { ofType } from '../phone/phone-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { incoming, startWithTexts } from './sms-harness.ts'

test('mentions media to the model without fetching it', async () => {
  const phone = await startWithTexts()
  const fields = {
    ...incoming('SM1', OWNER, ''),
    NumMedia: '1',
    MediaUrl0: 'http://127.0.0.1:9/never',
    MediaContentType0: 'image/jpeg',
  }
  await phone.provider.post('/sms', fields)
  const all = await phone.eventsUntil('the answer', (events) => ofType(events, 'sms.sent').length === 1)
  expect(ofType(all, 'sms.received')[0].payload).toMatchObject({ mediaTypes: ['image/jpeg'], text: '' })
  expect(turnRequests(phone.text).at(-1)?.text).toContain('image/jpeg')
})

test.each([
  ['', 'I can’t open pictures or other attachments. Please tell me in words.'],
  ['My sister likes this', 'Noted.\n\nI can’t open pictures or other attachments. Please tell me in words.'],
])('says without a language model that it cannot open the picture of “%s”', async (words, reply) => {
  const phone = await startWithTexts({ environment: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' } })
  const picture = { ...incoming('SM1', OWNER, words), NumMedia: '1', MediaContentType0: 'image/jpeg' }
  await phone.provider.post('/sms', picture)
  const all = await phone.eventsUntil('the answer', (events) => ofType(events, 'sms.sent').length === 1)
  expect(ofType(all, 'sms.sent')).toMatchObject([{ payload: { text: reply.replaceAll('’', "'") } }])
})
