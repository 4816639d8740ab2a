import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { choose, inFocus, openSearch, visit, words } from './page.ts'

const browser = useBrowser()

/** Checks what is shown in every look, and at 320 px. */
async function check(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 })
  expect([name, await findings(page)]).toEqual([name, []])
  expect([name, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([name, 320])
  await checkLooks(page, name)
}

const itemsOf = (page: Page) => page.getByRole('list', { name: 'Memories' }).getByRole('listitem')
const textField = (page: Page) => page.getByRole('textbox', { name: 'What to remember' })

test('adds and edits a memory, and undoes the edit', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/memories', slowTimers: true })
  const items = itemsOf(page)
  await page.getByRole('button', { name: 'Add a memory' }).click()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('Enter what to remember.').waitFor()
  await textField(page).fill('My dentist is Dr Weber')
  await check(page, 'memory-add')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await items.filter({ hasText: 'My dentist is Dr Weber' }).filter({ hasText: 'written by you' }).waitFor()

  await page.getByRole('button', { name: 'Edit: My dentist is Dr Weber' }).click()
  await expect.poll(() => textField(page).inputValue()).toBe('My dentist is Dr Weber')
  await textField(page).fill('My dentist is Dr Okafor')
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Relation')
  await page.getByRole('button', { name: 'Save' }).click()
  await items.filter({ hasText: 'Dr Okafor' }).filter({ hasText: 'relation' }).waitFor()
  await page.getByText('Applies from your next message on').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await items.filter({ hasText: 'Dr Weber' }).waitFor()
  await expect.poll(() => items.count()).toBe(1)
  expect(await items.getByRole('link', { name: 'Show source' }).count()).toBe(0)
})

test('pins memories, which come first, and merges others, with a way back', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  for (const text of ['Always answer me in Welsh', 'I own a canoe', 'My canoe is green'])
    await service.client.post('/api/memories', { text })
  await service.client.post('/api/chat', { content: 'I work as a nurse.' })
  const page = await visit(browser(), service, { path: '/memories', slowTimers: true })
  const items = itemsOf(page)
  await items.filter({ hasText: 'I work as a nurse' }).waitFor()
  await page.getByRole('button', { name: 'Pin: Always answer me in Welsh' }).click()
  await items.first().filter({ hasText: 'Always answer me in Welsh' }).filter({ hasText: 'pinned' }).waitFor()
  await page.getByText(/Pinned memories are part of every reply to you, but not to guests/).waitFor()
  await page.reload()

  await page.getByRole('checkbox', { name: 'Select: I own a canoe' }).check()
  expect(await page.getByRole('button', { name: 'Merge' }).isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: 'Select: My canoe is green' }).check()
  await check(page, 'memories-selected')
  await page.getByRole('button', { name: 'Merge' }).click()
  await page.getByRole('heading', { name: 'Merge 2 memories' }).waitFor()
  await expect.poll(() => textField(page).inputValue()).toBe('My canoe is green. I own a canoe.')
  await textField(page).fill('I own a green canoe')
  await check(page, 'memory-merge')
  await page.locator('dg-memory-dialog').getByRole('button', { name: 'Merge' }).click()
  await items.filter({ hasText: 'I own a green canoe' }).waitFor()
  await expect.poll(() => items.count()).toBe(3)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => items.count()).toBe(4)
  await page.getByRole('button', { name: 'Unpin: Always answer me in Welsh' }).click()
  await page.getByRole('button', { name: 'Pin: Always answer me in Welsh' }).waitFor()
})

test('adds a memory by keyboard and reports pasted words', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, {
    path: '/memories',
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  })
  const add = page.getByRole('button', { name: 'Add a memory' })
  await add.focus()
  await page.keyboard.press('Enter')
  await textField(page).waitFor()
  await page.evaluate(() => navigator.clipboard.writeText('The gate code is 4711'))
  await textField(page).focus()
  await page.keyboard.press('ControlOrMeta+v')
  await page.keyboard.press('Tab')
  await inFocus(page.getByRole('combobox', { name: 'Kind' })).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await inFocus(page.getByRole('button', { name: 'Add', exact: true })).waitFor()
  await page.keyboard.press('Enter')
  await itemsOf(page).filter({ hasText: 'pasted words' }).waitFor()
  expect((await service.client.get('/api/memories')).json.memories).toMatchObject([{ pasted: true }])
})

test('says why a memory cannot be pinned or saved', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  await service.client.put('/memory-config', { maxInjectedTokens: 10 })
  const { id } = (await service.client.post('/api/memories', { text: 'I own a canoe' })).json
  const page = await visit(browser(), service, { path: '/memories', expected: /409/ })
  await page.getByRole('button', { name: 'Pin: I own a canoe' }).click()
  await page.getByText('leave no room').waitFor()
  await page.getByRole('button', { name: 'Edit: I own a canoe' }).click()
  await textField(page).fill('I own a kayak')
  await service.client.put(`/api/memories/${id}`, { text: 'I own a raft' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').filter({ hasText: 'no longer applies' }).waitFor()
  await expect.poll(() => textField(page).inputValue()).toBe('I own a kayak')
})

test('corrects and forgets a memory from “Why this reply”', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  await service.client.put('/memory-config', { retrieveTimeoutMs: 5000 })
  for (const text of ['My dentist is Dr Weber', 'My dentist is closed on Mondays'])
    await service.client.post('/api/memories', { text })
  model.answerWith(() => ({ text: 'Dr Weber, I think.' }))
  await service.client.post('/api/chat', { content: 'Who is my dentist?' })
  const page = await visit(browser(), service, { slowTimers: true })
  await choose(words(page, 'Delegate', 'Dr Weber, I think.'), 'Why this reply')
  const why = page.locator('dg-why-dialog')
  const correct = why.getByRole('button', { name: 'Correct: My dentist is Dr Weber' })
  await correct.waitFor()
  await check(page, 'why-memories')
  await correct.click()
  await textField(page).fill('My dentist is Dr Okafor')
  await page.getByRole('button', { name: 'Save' }).click()
  const item = why.getByRole('listitem').filter({ hasText: 'Now “My dentist is Dr Okafor”' })
  await item.getByText('for what you say since').waitFor()
  expect(await item.getByRole('button').count()).toBe(0)
  await check(page, 'why-corrected')
  await why.getByRole('button', { name: 'Forget: My dentist is closed on Mondays' }).click()
  await page.getByRole('button', { name: 'Erase', exact: true }).click()
  await why.getByText('A memory that has since been forgotten').waitFor()
  model.answerWith(() => ({ text: 'Dr Okafor.' }))
  await service.client.post('/api/chat', { content: 'Who is my dentist again?' })
  expect(model.requests('/responses').at(-1)?.text).toContain('My dentist is Dr Okafor')
})

test('finds memories and reminders beside the timeline, and opens them', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const { client } = service
  for (const text of [
    'My dentist is Dr Weber',
    'The dentist has a blue door',
    'I like my dentist',
    'A dentist a day',
  ])
    await client.post('/api/memories', { text })
  await client.post('/api/timers', { title: 'Call the dentist', at: '2099-01-01T09:00:00Z' })
  await client.post('/api/chat', { content: 'Good morning, dentist' })
  const page = await visit(browser(), service)
  await openSearch(page)
  await page.keyboard.type('dentist')
  const dialog = page.locator('dg-search-dialog')
  const hits = (group: string) => dialog.getByRole('list', { name: group }).getByRole('listitem')
  await expect.poll(() => hits('Memories').count()).toBe(3)
  await hits('Reminders').filter({ hasText: 'Call the dentist' }).waitFor()
  const timeline = hits('Timeline')
  await timeline.filter({ hasText: 'Good morning, dentist' }).waitFor()
  // The group has it.
  expect(await timeline.filter({ hasText: 'Call the dentist' }).count()).toBe(0)
  await check(page, 'search-groups')

  await page.getByRole('combobox', { name: 'Period' }).selectOption('Today')
  await hits('Memories').first().waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Period' }).selectOption('Any time')
  await hits('Reminders').first().getByRole('button').click()
  await page.getByRole('heading', { name: 'Reminders' }).waitFor()
  await page.goBack()
  await openSearch(page)
  await page.keyboard.type('blue door')
  await hits('Memories').first().waitFor()
  await page.keyboard.press('Enter')
  await itemsOf(page).filter({ hasText: 'The dentist has a blue door' }).waitFor()
  await expect.poll(() => itemsOf(page).count()).toBe(1)
})
