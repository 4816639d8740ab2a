import { expect, test } from 'vitest'
import { ofType } from '../phone/phone-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { incoming, startWithTexts } from '../sms/sms-harness.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { inFocus, phone as phoneSize, reply, say, visit, words } from './page.ts'

const browser = useBrowser()
const TO = '+14155550177'

test('sends or declines a proposed text as the owner chooses, and updates every tab', async () => {
  const phone = await startWithTexts()
  const page = await visit(browser(), phone.service, { expected: /409/ })
  const other = await visit(browser(), phone.service, { context: { viewport: phoneSize } })
  // Waits for the whole turn, because the reply after the proposal moves the buttons.
  const propose = async (text: string, count: number) => {
    phone.text.reply(
      { toolCalls: [{ name: 'send_sms', arguments: { to: TO, text } }] },
      { text: 'It waits.' },
    )
    await say(page, `Tell ${TO}`)
    await page
      .getByRole('region', { name: `Send this text to ${TO}` })
      .filter({ hasText: text })
      .waitFor()
    for (const tab of [page, other]) await expect.poll(() => reply(tab, 'It waits.').count()).toBe(count)
  }
  await propose('I am ten minutes late, please order for me.', 1)
  const elsewhere = other.getByRole('region', { name: `Send this text to ${TO}` })
  await elsewhere.waitFor()
  expect(await findings(page)).toEqual([])
  await page.getByRole('button', { name: 'Send text' }).click()
  await page.getByRole('region', { name: `You confirmed: Send this text to ${TO}` }).waitFor()
  await other.getByRole('region', { name: `You confirmed: Send this text to ${TO}` }).waitFor()
  await words(page, 'Delegate', 'I am ten minutes late')
    .filter({ hasText: `Text to ${TO}` })
    .waitFor()
  expect(phone.double.messages).toMatchObject([{ to: TO }])

  await propose('Never mind.', 2)
  await elsewhere.filter({ hasText: 'Never mind.' }).waitFor()
  await elsewhere.getByRole('button', { name: 'Do not send' }).focus()
  await inFocus(elsewhere.getByRole('button', { name: 'Do not send' })).waitFor()
  await other.keyboard.press('Enter')
  await page.getByRole('region', { name: `You declined: Send this text to ${TO}` }).waitFor()
  expect(phone.double.messages).toHaveLength(1)

  await page.reload()
  await page.getByRole('region', { name: `You declined: Send this text to ${TO}` }).waitFor()
})

test('explains a failed confirmation on the card and allows another attempt', {
  tags: ['long'],
}, async () => {
  const phone = await startWithTexts()
  phone.text.reply(
    { toolCalls: [{ name: 'send_sms', arguments: { to: TO, text: 'Hi' } }] },
    { text: 'It waits.' },
  )
  await phone.service.client.post('/api/chat', { content: 'Say hi' })
  const page = await visit(browser(), phone.service, { expected: /503/ })
  const problem = { code: 'ledger_unavailable', detail: 'Nothing was saved. Try again.', status: 503 }
  await page.route('**/confirm', (route) => route.fulfill({ status: 503, json: problem }), { times: 1 })
  const send = page.getByRole('button', { name: 'Send text' })
  await send.click()
  await page.getByRole('alert').filter({ hasText: 'try again' }).waitFor()
  await send.click()
  await page.getByRole('region', { name: 'You confirmed: Send this text' }).waitFor()
})

test('marks an undelivered text and an uncertain one on the timeline', { tags: ['long'] }, async () => {
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
  await phone.eventsUntil('the sent text', (all) => ofType(all, 'sms.sent').length === 1)
  const MessageSid = phone.double.messages[0]?.sid ?? ''
  await phone.provider.post('/sms/status', { MessageSid, MessageStatus: 'undelivered', ErrorCode: '30003' })
  await words(page, 'Delegate', 'not delivered (provider error 30003)').waitFor()
})

test('describes the attachment of a text without words', { tags: ['long'] }, async () => {
  const phone = await startWithTexts()
  phone.text.answerWith(() => ({ text: 'I cannot see it.' }))
  const page = await visit(browser(), phone.service)
  const picture = { NumMedia: '1', MediaUrl0: 'https://example.com/1', MediaContentType0: 'image/jpeg' }
  await phone.provider.post('/sms', { ...incoming('SM1', OWNER, ''), ...picture })
  const texted = words(page, 'You', 'No text')
  await texted.getByText('with 1 attachment, not opened: image/jpeg').waitFor()
  await words(page, 'Delegate', 'I cannot see it.').waitFor()
  expect(await findings(page)).toEqual([])
})

test('shows a proposed deed verbatim, does or declines it, and refuses a stale one', async () => {
  const phone = await startWithTexts()
  const { client } = phone.service
  const page = await visit(browser(), phone.service, { context: { viewport: phoneSize } })
  const createNote = (title: string) => client.post('/api/notes', { title, content: `All about ${title}` })
  for (const title of ['Trip', 'Party', 'Garden']) await createNote(title)
  const read = { name: 'read_note', arguments: { query: 'Trip' } }
  const remove = (query: string) => ({ name: 'delete_note', arguments: { query } })
  phone.text.reply(
    { toolCalls: [read] },
    { toolCalls: [remove('Trip'), remove('Party'), remove('Garden')] },
    // The second reading, without the note, makes none of these calls.
    { text: 'You are welcome.' },
    { text: 'Three things wait for you.' },
  )
  await say(page, 'Read me the note Trip')
  await reply(page, 'Three things wait').waitFor()
  const card = (title: string) => page.getByRole('region', { name: `Delete the note “${title}”` })
  await card('Trip').filter({ hasText: 'All about Trip' }).waitFor()
  await card('Trip').filter({ hasText: 'after reading a note' }).waitFor()
  expect(await findings(page)).toEqual([])
  await card('Trip').getByRole('button', { name: 'Delete note' }).click()
  await page.getByRole('region', { name: 'Done: Delete the note “Trip”' }).waitFor()
  await card('Party').getByRole('button', { name: 'Decline' }).click()
  await page.getByRole('region', { name: 'You declined: Delete the note “Party”' }).waitFor()
  const { notes } = (await client.get('/api/notes')).json
  const { id } = notes.find((note: { title: string }) => note.title === 'Garden')
  const json = { headers: { 'content-type': 'application/json' } }
  await client.send('PUT', `/api/notes/${id}`, JSON.stringify({ content: 'Roses' }), json)
  await card('Garden').getByRole('button', { name: 'Delete note' }).click()
  const refused = page.getByRole('region', { name: 'Not done: Delete the note “Garden”' })
  await refused.filter({ hasText: 'It has changed since you were asked' }).waitFor()
  expect(await findings(page)).toEqual([])
  expect((await client.get('/api/notes')).json.notes).toHaveLength(2)
})

test('shows a long prompt in full before it can be run', { tags: ['long'] }, async () => {
  const phone = await startWithTexts({ environment: { COPILOT_COMMAND: '["true"]' } })
  await phone.service.client.post('/api/notes', { title: 'Trip', content: 'Pack bags' })
  const prompt = `Begin. ${'Sweep the floor. '.repeat(400)}The very end.`
  phone.text.reply(
    { toolCalls: [{ name: 'read_note', arguments: { query: 'Trip' } }] },
    { toolCalls: [{ name: 'dispatch_task', arguments: { title: 'Sweep', prompt, notify: null } }] },
    { text: 'You are welcome.' },
    { text: 'It waits.' },
  )
  await phone.service.client.post('/api/chat', { content: 'Read me the note Trip' })
  const page = await visit(browser(), phone.service)
  const card = page.getByRole('region', { name: 'Have the coding assistant do “Sweep”' })
  await card.filter({ hasText: 'The very end.' }).waitFor()
  await card.getByRole('button', { name: 'Run task' }).click()
  await page.getByRole('region', { name: 'Done: Have the coding assistant do “Sweep”' }).waitFor()
})

test('shows the whole prompt above its button, with control characters made visible', {
  tags: ['long'],
}, async () => {
  const phone = await startWithTexts({ environment: { COPILOT_COMMAND: '["true"]' } })
  await phone.service.client.post('/api/notes', { title: 'Trip', content: 'Pack bags' })
  const title = 'Backup\u202e”'
  const prompt = `Back up my photos.${'\n'.repeat(200)}Then delete them.\u2066${'\nAnd rest.'.repeat(60)}\nThe end.`
  phone.text.reply(
    { toolCalls: [{ name: 'read_note', arguments: { query: 'Trip' } }] },
    { toolCalls: [{ name: 'dispatch_task', arguments: { title, prompt, notify: 'sms' } }] },
    { text: 'You are welcome.' },
    { text: 'It waits.' },
  )
  await phone.service.client.post('/api/chat', { content: 'Read me the note Trip' })
  const page = await visit(browser(), phone.service, { context: { viewport: phoneSize } })
  const card = page.getByRole('region', { name: 'Have the coding assistant do “Backup[U+202E]”' })
  const words = card.getByRole('blockquote')
  await words.filter({ hasText: 'The end.' }).waitFor()
  const shown = await words.innerText()
  expect(shown).toContain('Back up my photos.\n\nThen delete them.[U+2066]\nAnd rest.')
  expect(shown).toMatch(/^The outcome goes to you by text message\./)
  const { isWhole, bottom } = await words.evaluate((element) => ({
    isWhole: element.scrollHeight <= element.clientHeight,
    bottom: element.getBoundingClientRect().bottom,
  }))
  const button = await card
    .getByRole('button', { name: 'Run task' })
    .evaluate((element) => element.getBoundingClientRect().top)
  expect([isWhole, button >= bottom]).toEqual([true, true])
})
