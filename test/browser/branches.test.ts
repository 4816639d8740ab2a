import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { checkLooks, checkThemes, looks, tagsOf } from './looks.ts'
import { startWithModel } from './model.ts'
import { choose, composer, inFocus, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

/** A conversation whose last message asks for a timer. */
async function startWithTimer() {
  const { service, model } = await startWithModel()
  const { client } = service
  model.reply({ text: 'Friday at six, then.' })
  await client.post('/api/chat', { content: 'Ada comes to dinner on Friday at six.' })
  const timer = { title: 'Buy fish', at: '2031-04-11T17:00', in_minutes: null }
  model.reply(
    { toolCalls: [{ name: 'set_timer', arguments: { ...timer, recurrence: null, missed_policy: null } }] },
    { text: 'I will remind you at five to buy the fish.' },
  )
  await client.post('/api/chat', { content: 'Remind me at five to buy the fish.' })
  model.answerWith(() => ({ text: 'At four, then: the fish.' }))
  const messages = async () => {
    const { events } = (await client.get('/api/timeline')).json
    return events.filter(({ type }: { type: string }) => type === 'chat.message.received')
  }
  return { service, model, messages }
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const branch = (page: Page, name: string | RegExp) => page.locator('.branch').getByRole('button', { name })

for (const [look, context] of looks)
  test(`changes the last message, and keeps the earlier version folded: ${look}`, {
    tags: tagsOf(look),
  }, async () => {
    const { service, messages } = await startWithTimer()
    const page = await visit(browser(), service, { context })
    const message = words(page, 'You', 'at five')
    await message.focus()
    await checkThemes(page, 'edit-offer', look)
    await choose(message, 'Edit')
    await page.getByText('Editing your last message').waitFor()
    await expect.poll(() => composer(page).inputValue()).toBe('Remind me at five to buy the fish.')
    await checkThemes(page, 'edit-message', look)
    await composer(page).fill('Remind me at four to buy the fish.')
    await composer(page).press('Enter')
    await reply(page, 'At four, then').waitFor()
    await page.getByText('Editing your last message').waitFor({ state: 'hidden' })
    await message.waitFor({ state: 'detached' })
    await page.getByText('Done before you changed it: Reminder set: Buy fish').waitFor()
    await checkThemes(page, 'earlier-version', look)
    await branch(page, /^Earlier version/).click()
    await message.waitFor()
    await reply(page, 'I will remind you at five').waitFor()
    await checkThemes(page, 'earlier-version-open', look)
    expect((await messages()).at(-1).payload.replaces).toMatchObject({ sameWords: false })
    await page.reload()
    await branch(page, /^Earlier version/).waitFor()
    expect(await message.count()).toBe(0)
  })

for (const [look, context] of looks)
  test(`answers the last message again, and shows its words once: ${look}`, {
    tags: tagsOf(look),
  }, async () => {
    const { service, messages } = await startWithTimer()
    const page = await visit(browser(), service, { context })
    await choose(reply(page, 'I will remind you at five'), 'Try again')
    const confirm = page.locator('dg-confirm-dialog')
    await confirm.getByText('Done already: Reminder set: Buy fish. This stays').waitFor()
    await confirm.getByRole('button', { name: 'Try again' }).click()
    await reply(page, 'At four, then').waitFor()
    await expect.poll(() => words(page, 'You', 'at five').count()).toBe(1)
    await branch(page, /^Earlier answer I will remind you/).waitFor()
    await checkThemes(page, 'earlier-answer', look)
    const [, first, again] = await messages()
    expect(again.payload.text).toBe(first.payload.text)
    expect(again.payload.replaces).toEqual({ turnId: first.turnId, seq: first.seq, sameWords: true })
  })

test('edits by keyboard, cancels, and gives back what was being written', { tags: ['long'] }, async () => {
  const { service, messages } = await startWithTimer()
  const page = await visit(browser(), service)
  await words(page, 'You', 'at five').waitFor()
  await inFocus(composer(page)).waitFor()
  const value = () => composer(page).inputValue()
  await page.keyboard.press('ArrowUp')
  await expect.poll(value).toBe('Remind me at five to buy the fish.')
  await inFocus(composer(page)).waitFor()
  await page.keyboard.type(' Please.')
  await page.reload()
  await page.getByText('Editing your last message').waitFor()
  await expect.poll(value).toBe('Remind me at five to buy the fish. Please.')
  await composer(page).press('Escape')
  await page.getByText('Editing your last message').waitFor({ state: 'hidden' })
  await expect.poll(value).toBe('')

  await composer(page).fill('And another thing')
  await choose(words(page, 'You', 'at five'), 'Edit')
  await expect.poll(value).toBe('Remind me at five to buy the fish.')
  await composer(page).fill('')
  await page.reload()
  await button(page, 'Cancel').click()
  await expect.poll(value).toBe('And another thing')
  expect(await messages()).toHaveLength(2)
  // Only the last message, and the answer to it.
  const earlier = words(page, 'You', 'Ada comes')
  await earlier.focus()
  await earlier.getByRole('button', { name: 'More for this message' }).click()
  await page.getByRole('menuitem', { name: 'Copy', exact: true }).waitFor()
  expect(await page.getByRole('menuitem', { name: 'Edit' }).count()).toBe(0)
})

test('changes a message while it is answered, which stops the answer', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  const rest = Promise.withResolvers<void>()
  model.reply({ text: ['The long', ' answer'], pause: { at: 5, until: rest.promise } })
  const page = await visit(browser(), service)
  await say(page, 'Tell me everything about bees.')
  await words(page, 'Delegate', 'The long').waitFor()
  model.answerWith(() => ({ text: 'They make honey.' }))
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => composer(page).inputValue()).toBe('Tell me everything about bees.')
  await say(page, 'Tell me one thing about bees.')
  await reply(page, 'They make honey.').waitFor()
  await branch(page, /^Earlier version/).click()
  await words(page, 'Delegate', 'stopped by you').waitFor()
  rest.resolve()
})

test('keeps what was pasted marked in the changed message', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'Ok.' }))
  const content = 'Read: delete all notes'
  await service.client.post('/api/chat', { content, pasted: [[6, content.length]] })
  const page = await visit(browser(), service)
  await words(page, 'You', 'delete all notes').waitFor()
  await inFocus(composer(page)).waitFor()
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => composer(page).inputValue()).toBe(content)
  await page.keyboard.press('Home')
  await page.keyboard.type('Please ')
  await page.keyboard.press('Enter')
  await branch(page, /^Earlier version/).waitFor()
  const { events } = (await service.client.get('/api/timeline')).json
  const { payload } = events.findLast(({ type }: { type: string }) => type === 'chat.message.received')
  expect([payload.text, payload.pasted]).toEqual([`Please ${content}`, [[13, 13 + 16]]])
})

test('says why a message was not changed that another tab had answered', { tags: ['long'] }, async () => {
  const { service, model } = await startWithTimer()
  const page = await visit(browser(), service)
  await words(page, 'You', 'at five').waitFor()
  await inFocus(composer(page)).waitFor()
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => composer(page).inputValue()).toContain('at five')
  model.reply({ text: 'Noted.' })
  await service.client.post('/api/chat', { content: 'And bread.' })
  await page.keyboard.type(' Please.')
  await page.keyboard.press('Enter')
  await page.getByText('Only your last message can be changed or answered again.').waitFor()
})

test('offers to ask again when the model answers nothing', async () => {
  const { service, model } = await startWithModel()
  const page = await visit(browser(), service)
  model.reply({ text: '' })
  await say(page, 'When does the ferry leave?')
  const empty = reply(page, 'The model gave no answer.')
  await empty.waitFor()
  await checkLooks(page, 'empty-answer')
  model.reply({ text: 'At nine.' })
  await empty.getByRole('button', { name: 'Try again' }).click()
  await reply(page, 'At nine.').waitFor()
})
