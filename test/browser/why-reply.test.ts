import { expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { choose, visit, words } from './page.ts'

const browser = useBrowser()

test('shows the model, tokens and tools of a reply, and offers a retry when that fails', async () => {
  const { service, model } = await startWithModel()
  model.reply({ toolCalls: [{ name: 'note_create', arguments: { title: 'Garden', content: 'Roses' } }] })
  model.answerWith(() => ({ text: 'I noted it.' }))
  await service.client.post('/api/chat', { content: 'Make a note of roses' })
  const page = await visit(browser(), service, { expected: /500/ })
  const reply = words(page, 'Delegate', 'I noted it.')
  const ask = () => choose(reply, 'Why this reply')
  await ask()
  await page.getByText('Answered by test-model').waitFor()
  await page.getByText(/tokens in/).waitFor()
  await page.locator('summary', { hasText: 'note create' }).click()
  await expect.poll(() => page.locator('dg-why-dialog pre').first().textContent()).toContain('Roses')
  await page.locator('dg-why-dialog').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })

  await page.route('**/api/turns/*', (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
  await ask()
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Answered by test-model').waitFor()
})

test('lists the standing instructions of a reply by title, and removed ones by name', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  await service.client.post('/api/adaptations/brief', { title: 'Be brief', content: 'Three sentences.' })
  await service.client.post('/api/adaptations/morning_news', {
    title: 'Mornings',
    content: 'Begin with the news.',
  })
  model.answerWith(() => ({ text: 'Good morning.' }))
  await service.client.post('/api/chat', { content: 'Hello' })
  await service.client.delete('/api/adaptations/morning_news')
  const page = await visit(browser(), service)
  await choose(words(page, 'Delegate', 'Good morning.'), 'Why this reply')
  const given = page.locator('dg-why-dialog section').filter({ hasText: 'Standing instructions' })
  await given.waitFor()
  await expect
    .poll(() => given.getByRole('listitem').allInnerTexts())
    .toEqual(['Be brief', 'morning news since removed'])
})

test('marks pasted words, names them as words of others, and keeps them marked when it sends them again', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  const letter = `Dear Ann, ${'we miss you. '.repeat(400)}`.trim()
  const page = await visit(browser(), service, { expected: /502/ })
  const composer = page.getByRole('textbox', { name: 'Message' })
  await composer.fill('What does this say? ')
  await composer.evaluate((field: HTMLTextAreaElement, text) => {
    field.setSelectionRange(field.value.length, field.value.length)
    field.setRangeText(text, field.value.length, field.value.length, 'end')
    field.dispatchEvent(new InputEvent('input', { inputType: 'insertFromPaste', bubbles: true }))
  }, letter)
  await page.reload()
  await composer.press('End')
  await composer.pressSequentially(' Answer.')
  model.reply({ refusal: 'Not now.' })
  await composer.press('Enter')
  model.answerWith(() => ({ text: 'They miss you.' }))
  await page.getByRole('button', { name: 'Try again' }).click()
  const reply = words(page, 'Delegate', 'They miss you.')
  await reply.waitFor()
  const { events } = (await service.client.get('/api/timeline')).json
  const sent = events.filter(({ type }: { type: string }) => type === 'chat.message.received')
  const marked = [[20, 20 + letter.length]]
  expect(sent.map(({ payload }: { payload: { pasted: unknown } }) => payload.pasted)).toEqual([
    marked,
    marked,
  ])
  expect(sent[1].payload.bytes).toBe(sent[0].payload.bytes)
  await choose(reply, 'Why this reply')
  await page.getByText('Text that you pasted').waitFor()
})

test('knows after an undo what was typed and what was pasted', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'Ok.' }))
  const page = await visit(browser(), service, {
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  })
  const composer = page.getByRole('textbox', { name: 'Message' })
  let sent = 0
  const sentMarks = async () => {
    await composer.press('Enter')
    await words(page, 'Delegate', 'Ok.').nth(sent).waitFor()
    sent += 1
    const { events } = (await service.client.get('/api/timeline')).json
    const { payload } = events.findLast(({ type }: { type: string }) => type === 'chat.message.received')
    return [payload.text, payload.pasted]
  }
  await composer.pressSequentially('Buy milk')
  await composer.press('ControlOrMeta+a')
  await composer.press('Delete')
  await composer.press('ControlOrMeta+z')
  await expect.poll(() => composer.inputValue()).toBe('Buy milk')
  expect(await sentMarks()).toEqual(['Buy milk', undefined])

  await page.evaluate(() => navigator.clipboard.writeText('Sell all'))
  await composer.press('ControlOrMeta+v')
  await composer.press('ControlOrMeta+z')
  await expect.poll(() => composer.inputValue()).toBe('')
  await composer.press('ControlOrMeta+Shift+z')
  await expect.poll(() => composer.inputValue()).toBe('Sell all')
  expect(await sentMarks()).toEqual(['Sell all', [[0, 8]]])
})

test('says what a small context left out', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel({ environment: { CONTEXT_TOKENS: '4096' } })
  const content = 'Mention the weather of the day. '.repeat(60)
  await service.client.post('/api/adaptations/weather', { title: 'Weather', content })
  model.answerWith(() => ({ text: 'Good morning.' }))
  await service.client.post('/api/chat', { content: 'Hello' })
  const page = await visit(browser(), service)
  await choose(words(page, 'Delegate', 'Good morning.'), 'Why this reply')
  const left = page.locator('dg-why-dialog section').filter({ hasText: 'Left out' })
  await left.waitFor()
  await expect
    .poll(() => left.getByRole('listitem').allInnerTexts())
    .toEqual(['1 standing instruction', 'The context of the model holds 4,096 tokens.'])
})
