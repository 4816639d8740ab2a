import { expect, test } from 'vitest'
import { newSalt, toDraft } from '../../ledger/codec.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { newId, openTestWriter, said } from '../support/writer.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { desk, failFirstRequest, inFocus, openSearch, phone, visit, words } from './page.ts'

const browser = useBrowser()

test('shows each hit with the icon of its kind and without Markdown', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: '**Lisbon** is 2 * 3 hours away.' }))
  await service.client.post('/api/chat', { content: 'How far is *lisbon*?' })
  await service.client.post('/api/notes', {
    title: 'Off to Lisbon',
    content: '# Off to Lisbon\n\n- [x] Passport\n- [ ] The *blue* jacket',
  })
  await service.client.post('/api/timers', { title: 'Check in for Lisbon', at: '2031-04-11T08:00' })
  const page = await visit(browser(), service, { context: { viewport: phone } })
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('searchbox', { name: 'Search the timeline' }).fill('lisbon')
  const hits = page.locator('dg-search-dialog .hit')
  await expect.poll(() => hits.count()).toBe(4)
  const shown = await hits.evaluateAll((all) =>
    all.map((hit) => [
      hit.querySelector('dg-icon')?.getAttribute('name'),
      hit.querySelector('.facts > :first-child')?.textContent,
      hit.querySelector('.snippet')?.textContent,
    ]),
  )
  expect(shown).toEqual([
    ['timer', 'Reminder', 'Check in for Lisbon'],
    ['note', 'Note', 'Off to Lisbon · ☑ Passport · ☐ The blue jacket'],
    ['chat', 'Delegate, in the chat', 'Lisbon is 2 * 3 hours away.'],
    ['chat', 'You, in the chat', 'How far is *lisbon*?'],
  ])
  expect(await findings(page)).toEqual([])
})

const DAY_MS = 86_400_000

/** Starts a service with events from the given number of days ago. */
async function startWithPast(...past: readonly (readonly [daysAgo: number, event: NewEvent])[]) {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  const nowMs = Date.now()
  for (const [daysAgo, event] of past) {
    const at = new Date(nowMs - daysAgo * DAY_MS).toISOString()
    writer.commit([[toDraft(event, { newId, newSalt, at })]])
  }
  writer.settle()
  writer.close()
  // A zone where it is noon, so that the test does not cross midnight.
  const hoursBehindUtc = new Date(nowMs).getUTCHours() - 12
  const TIMEZONE = hoursBehindUtc === 0 ? 'UTC' : `Etc/GMT${hoursBehindUtc > 0 ? '+' : ''}${hoursBehindUtc}`
  return startWholeService({ directory, environment: { TIMEZONE } })
}

const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

for (const [look, context] of [
  ['desk-light', { viewport: desk, colorScheme: 'light' }],
  ['phone-dark', { viewport: phone, colorScheme: 'dark', hasTouch: true, isMobile: true }],
] as const) {
  test(`filters a search by channel and period, and keeps the filters while typing (${look})`, {
    tags: look === 'phone-dark' ? ['long'] : [],
  }, async () => {
    const service = await startWithPast(
      [800, said('Lisbon was far')],
      [20, said('Lisbon by text', { channel: 'sms' })],
      [3, said('Lisbon on the phone', { channel: 'voice' })],
      [0, said('Lisbon and a text today', { channel: 'sms' })],
      [0, said('Lisbon today')],
    )
    const page = await visit(browser(), service, { context })
    await openSearch(page)
    const field = page.getByRole('searchbox', { name: 'Search the timeline' })
    const channel = page.getByRole('combobox', { name: 'Channel' })
    const period = page.getByRole('combobox', { name: 'Period' })
    const shown = () => page.locator('dg-search-dialog .snippet').allTextContents()
    await field.fill('lisbon')
    await expect.poll(async () => (await shown()).length).toBe(5)

    await channel.selectOption('Text message')
    await expect.poll(shown).toEqual(['Lisbon and a text today', 'Lisbon by text'])
    await period.selectOption('Last 7 days')
    await expect.poll(shown).toEqual(['Lisbon and a text today'])
    await period.selectOption('Last 30 days')
    await expect.poll(shown).toEqual(['Lisbon and a text today', 'Lisbon by text'])
    await field.fill('lisbon by')
    await expect.poll(shown).toEqual(['Lisbon by text'])
    await period.selectOption('Today')
    await page.getByText('No results for “lisbon by” with these filters.').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await inFocus(field).waitFor()
    await expect.poll(shown).toEqual(['Lisbon by text'])
    expect(await channel.inputValue()).toBe('')
    expect(await period.inputValue()).toBe('any')

    await field.fill('lisbon')
    await period.selectOption('Custom range')
    await page.getByLabel('From', { exact: true }).fill(dayBefore(21))
    await page.getByLabel('To', { exact: true }).fill(dayBefore(2))
    await expect.poll(shown).toEqual(['Lisbon on the phone', 'Lisbon by text'])
    expect(await findings(page)).toEqual([])
    await page.getByLabel('To', { exact: true }).fill(dayBefore(22))
    await page.getByRole('alert').getByText('The start date is after the end date.').waitFor()
    await page.getByText('No results for “lisbon” with these filters.').waitFor()
    expect(await findings(page)).toEqual([])
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(sideways).toBeLessThanOrEqual(0)
  })
}

test('sets filters by keyboard, and retries a failed search with them', { tags: ['long'] }, async () => {
  const service = await startWithPast(
    [0, said('Lisbon today')],
    [0, said('Lisbon by text', { channel: 'sms' })],
  )
  const page = await visit(browser(), service, { expected: /500/ })
  await words(page, 'You', 'Lisbon today').waitFor()
  await page.keyboard.press('Control+Shift+F')
  const field = page.getByRole('searchbox', { name: 'Search the timeline' })
  await inFocus(field).waitFor()
  await page.keyboard.type('lisbon')
  const hits = page.locator('dg-search-dialog .hit')
  await expect.poll(() => hits.count()).toBe(2)
  const recover = await failFirstRequest(page, '**/api/timeline/search?*')
  await page.keyboard.press('Tab')
  const channel = page.getByRole('combobox', { name: 'Channel' })
  await inFocus(channel).waitFor()
  // Letters select a channel; arrow keys may only open the list.
  await page.keyboard.type('Te')
  await expect.poll(() => channel.inputValue()).toBe('sms')
  const again = page.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  recover()
  await again.click()
  await expect.poll(() => hits.count()).toBe(1)
  await hits.getByText('Lisbon by text').waitFor()
  await field.focus()
  await page.keyboard.press('ArrowDown')
  await inFocus(hits.first()).waitFor()
})

test('shows a period without words, and opens what was said then', { tags: ['long'] }, async () => {
  const service = await startWithPast(
    [400, said('The roof leaks')],
    [399, said('The roof is mended')],
    [0, said('Good morning')],
  )
  const page = await visit(browser(), service)
  await openSearch(page)
  const hits = page.locator('dg-search-dialog .hit')
  await page.getByRole('combobox', { name: 'Period' }).selectOption({ label: 'Today' })
  await expect.poll(() => hits.allTextContents()).toEqual([expect.stringContaining('Good morning')])
  await page.getByRole('combobox', { name: 'Period' }).selectOption({ label: 'Custom range' })
  await expect.poll(() => hits.count()).toBe(0)
  const day = new Date(Date.now() - 400 * DAY_MS).toISOString().slice(0, 10)
  await page.getByLabel('From').fill(day)
  await page.getByLabel('To', { exact: true }).fill(day)
  await expect.poll(() => hits.allTextContents()).toEqual([expect.stringContaining('The roof leaks')])
  expect(await findings(page)).toEqual([])
  await page.getByLabel('From').fill('2001-01-01')
  await page.getByLabel('To', { exact: true }).fill('2001-01-01')
  await page.getByText('Nothing matches these filters.').waitFor()
  await page.getByLabel('To', { exact: true }).fill(day)
  await hits.first().click()
  await words(page, 'You', 'The roof leaks').waitFor()
})

test('applies the filters to further pages of results', { tags: ['long'] }, async () => {
  const texts = Array.from({ length: 25 }, (_, index) => said(`Lisbon ${index}.`, { channel: 'sms' }))
  const service = await startWithPast(
    ...texts.flatMap((text) => [[0, said('Lisbon in the chat')] as const, [0, text] as const]),
  )
  const page = await visit(browser(), service)
  await openSearch(page)
  await page.getByRole('combobox', { name: 'Channel' }).selectOption('Text message')
  await page.getByRole('combobox', { name: 'Period' }).selectOption('Today')
  await page.getByRole('searchbox', { name: 'Search the timeline' }).fill('lisbon')
  const shown = () => page.locator('dg-search-dialog .snippet').allTextContents()
  await expect.poll(async () => (await shown()).length).toBe(20)
  await page.getByRole('button', { name: 'Show more' }).click()
  const newestFirst = Array.from({ length: 25 }, (_, index) => `Lisbon ${24 - index}.`)
  await expect.poll(shown).toEqual(newestFirst)
})

test('opens the first hit of the latest query on Enter, and none after a failed search', {
  tags: ['long'],
}, async () => {
  const service = await startWithPast([0, said('Lisbon today')], [0, said('Porto today')])
  const page = await visit(browser(), service, { expected: /500/ })
  await openSearch(page)
  await page.keyboard.type('porto')
  await page.locator('dg-search-dialog .hit').waitFor()
  // A busy machine may search for a part of the word first.
  await page.route('**/api/timeline/search?*', (route) => route.fulfill({ status: 500, body: '{}' }))
  const field = page.getByRole('searchbox', { name: 'Search the timeline' })
  await field.fill('')
  await page.keyboard.type('nowhere')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  await page.unroute('**/api/timeline/search?*')
  await field.fill('')
  await page.keyboard.type('lisbon')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await inFocus(words(page, 'You', 'Lisbon today')).waitFor()
  await expect.poll(() => new URL(page.url()).search).toMatch(/^\?seq=/)
})

test('goes back from a hit to the timeline, and then to the page before', async () => {
  const service = await startWithPast([400, said('The roof leaks')], [0, said('Good morning')])
  const page = await visit(browser(), service, { path: '/notes' })
  await page.getByRole('link', { name: 'Timeline' }).click()
  await words(page, 'You', 'Good morning').waitFor()
  await openSearch(page)
  await page.keyboard.type('roof')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\?seq=/)
  await inFocus(words(page, 'You', 'The roof leaks')).waitFor()
  await page.goBack()
  await words(page, 'You', 'Good morning').waitFor()
  expect(new URL(page.url())).toMatchObject({ pathname: '/', search: '' })
  await page.goBack()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
})
