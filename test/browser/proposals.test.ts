import { expect, test } from 'vitest'
import { ofType } from '../phone/phone-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { incoming, startWithTexts } from '../sms/sms-harness.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { inFocus, phone as phoneSize, reply, say, visit, words } from './page.ts'

const browser = useBrowser()
const TO = '+14155550177'

test('a text to somebody else waits on the timeline: sent by a press, declined by another, as every tab sees', async () => {
  const phone = await startWithTexts()
  const page = await visit(browser(), phone.service, { expected: /409/ })
  const other = await visit(browser(), phone.service, { context: { viewport: phoneSize } })
  // The whole turn: what is told after the proposal moves it, and a press with it.
  const propose = async (text: string, count: number) => {
    phone.text.reply(
      { toolCalls: [{ name: 'send_sms', arguments: { to: TO, text } }] },
      { text: 'It waits.' },
    )
    await say(page, `Tell ${TO}`)
    await page
      .getByRole('region', { name: `Proposed text to ${TO}` })
      .filter({ hasText: text })
      .waitFor()
    for (const tab of [page, other]) await expect.poll(() => reply(tab, 'It waits.').count()).toBe(count)
  }
  await propose('I am ten minutes late, please order for me.', 1)
  const elsewhere = other.getByRole('region', { name: `Proposed text to ${TO}` })
  await elsewhere.waitFor()
  expect(await findings(page)).toEqual([])
  await page.getByRole('button', { name: 'Send text' }).click()
  await page.getByRole('region', { name: `You let this text to ${TO} go out` }).waitFor()
  await other.getByRole('region', { name: `You let this text to ${TO} go out` }).waitFor()
  await words(page, 'Delegate', 'I am ten minutes late')
    .filter({ hasText: `Text to ${TO}` })
    .waitFor()
  expect(phone.double.messages).toMatchObject([{ to: TO }])

  await propose('Never mind.', 2)
  await elsewhere.filter({ hasText: 'Never mind.' }).waitFor()
  await elsewhere.getByRole('button', { name: 'Do not send' }).focus()
  await inFocus(elsewhere.getByRole('button', { name: 'Do not send' })).waitFor()
  await other.keyboard.press('Enter')
  await page.getByRole('region', { name: `You declined this text to ${TO}` }).waitFor()
  expect(phone.double.messages).toHaveLength(1)

  await page.reload()
  await page.getByRole('region', { name: `You declined this text to ${TO}` }).waitFor()
})

test('a word that cannot be taken is explained on the card, and can be given again', async () => {
  const phone = await startWithTexts()
  phone.text.reply(
    { toolCalls: [{ name: 'send_sms', arguments: { to: TO, text: 'Hi' } }] },
    { text: 'It waits.' },
  )
  await phone.service.client.post('/api/chat', { content: 'Say hi' })
  const page = await visit(browser(), phone.service, { expected: /503/ })
  const problem = { code: 'ledger_unavailable', detail: 'Nothing was kept of it; try again.', status: 503 }
  await page.route('**/confirm', (route) => route.fulfill({ status: 503, json: problem }), { times: 1 })
  const send = page.getByRole('button', { name: 'Send text' })
  await send.click()
  await page.getByRole('alert').filter({ hasText: 'try again' }).waitFor()
  await send.click()
  await page.getByRole('region', { name: 'You let this text' }).waitFor()
})

test('a text that did not arrive, and one of which nobody knows, are on the timeline as that', async () => {
  const phone = await startWithTexts()
  const page = await visit(browser(), phone.service)
  phone.double.fail({ type: 'cut' })
  phone.text.reply(
    { toolCalls: [{ name: 'send_sms', arguments: { to: null, text: 'One' } }] },
    { text: 'Ok.' },
  )
  await say(page, 'Text me')
  await words(page, 'Delegate', 'may not have been sent').waitFor()
  await reply(page, 'Ok.').waitFor()
  phone.text.reply(
    { toolCalls: [{ name: 'send_sms', arguments: { to: null, text: 'Two' } }] },
    { text: 'Ok.' },
  )
  await say(page, 'Text me again')
  await phone.eventsUntil('it is sent', (all) => ofType(all, 'sms.sent').length === 1)
  const MessageSid = phone.double.messages[0]?.sid ?? ''
  await phone.provider.post('/sms/status', { MessageSid, MessageStatus: 'undelivered', ErrorCode: '30003' })
  await words(page, 'Delegate', "did not arrive (provider's error 30003)").waitFor()
})

test('a text that is nothing but a picture says that, instead of standing there empty', async () => {
  const phone = await startWithTexts()
  phone.text.answerWith(() => ({ text: 'I cannot see it.' }))
  const page = await visit(browser(), phone.service)
  const picture = { NumMedia: '1', MediaUrl0: 'https://example.com/1', MediaContentType0: 'image/jpeg' }
  await phone.provider.post('/sms', { ...incoming('SM1', OWNER, ''), ...picture })
  const texted = words(page, 'You', 'No words')
  await texted.getByText('with 1 attachment, not opened: image/jpeg').waitFor()
  await words(page, 'Delegate', 'I cannot see it.').waitFor()
  expect(await findings(page)).toEqual([])
})
