import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { composer, inFocus, visit, words } from './page.ts'

const browser = useBrowser()

const field = (page: Page) => page.getByRole('combobox', { name: 'Find a command, a page or a note' })
const options = (page: Page) => page.getByRole('listbox', { name: 'Commands' }).getByRole('option')
const chosen = (page: Page) => page.getByRole('option', { selected: true })
const path = (page: Page) => new URL(page.url()).pathname

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await inFocus(field(page)).waitFor()
}

test('opens pages, actions and notes from any page, by keyboard alone', async () => {
  const service = await startWholeService()
  const { json: note } = await service.client.post('/api/notes', {
    title: 'Off to Lisbon',
    content: 'Passport',
  })
  await service.client.post('/api/notes', { title: 'Garden', content: 'Roses' })
  const page = await visit(browser(), service, { path: '/timers' })
  await page.getByRole('heading', { name: 'No reminders yet' }).waitFor()
  const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  expect(loaded.filter((name) => name.includes('palette'))).toEqual([])

  await openPalette(page)
  await options(page).filter({ hasText: 'Garden' }).waitFor()
  await expect.poll(() => chosen(page).textContent()).toContain('Timeline')
  await checkLooks(page, 'palette')
  // The option that the field names is the chosen one.
  const named = await field(page).getAttribute('aria-activedescendant')
  expect(await chosen(page).getAttribute('id')).toBe(named)
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => chosen(page).textContent()).toContain('Off to Lisbon')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.type('memory ins')
  await expect.poll(() => chosen(page).textContent()).toContain('Memory Insights')
  await page.keyboard.press('Enter')
  await expect.poll(() => path(page)).toBe('/settings/memory')
  await page.getByRole('heading', { name: 'Memory Insights', level: 1 }).waitFor()

  await openPalette(page)
  await page.keyboard.type('set a rem')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Set a reminder' }).waitFor()
  await page.keyboard.press('Escape')

  await openPalette(page)
  await page.keyboard.type('halt')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Halt Delegate?' }).waitFor()
  await page.keyboard.press('Escape')

  await openPalette(page)
  await page.keyboard.type('theme')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Theme: light' }).waitFor()

  // A word of the text finds a note, too.
  await openPalette(page)
  await page.keyboard.type('passp')
  await expect
    .poll(() => options(page).allInnerTexts())
    .toEqual(['Search the timeline for “passp”', 'Off to Lisbon'])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Off to Lisbon', level: 1 }).waitFor()
  expect(path(page)).toBe(`/notes/${note.id}`)
})

test('searches the timeline for the typed words, and the search keeps its own key', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  await service.client.post('/api/chat', { content: 'The blue jacket is in the hall' })
  const page = await visit(browser(), service, { path: '/notes' })
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await openPalette(page)
  await page.keyboard.type('blue jacket')
  await page.getByRole('option', { name: 'Search the timeline for “blue jacket”' }).waitFor()
  await page.keyboard.press('Enter')
  const search = page.getByRole('searchbox', { name: 'Search the timeline' })
  await inFocus(search).waitFor()
  expect(await search.inputValue()).toBe('blue jacket')
  await page
    .getByRole('button', { name: /jacket is in the hall/ })
    .first()
    .click()
  await inFocus(words(page, 'You', 'The blue jacket')).waitFor()

  await page.keyboard.press('Control+Shift+F')
  await inFocus(search).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+/')
  await page.getByText('Search the timeline', { exact: true }).waitFor()
  await page.getByText('Find a command, a page or a note').waitFor()
})

test('returns the focus when it is closed, and closes with its own key', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  await inFocus(composer(page)).waitFor()
  for (const key of ['Escape', 'Control+k']) {
    await openPalette(page)
    await page.keyboard.press(key)
    await field(page).waitFor({ state: 'detached' })
    await inFocus(composer(page)).waitFor()
  }
})

test('opens again before the browser has reported that it was closed', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes' })
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await openPalette(page)
  await page.evaluate(() => {
    for (let presses = 0; presses < 2; presses++)
      dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))
  })
  await inFocus(field(page)).waitFor()
  expect(await field(page).count()).toBe(1)
})

test('fits a page of 320 px in the dark', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const content = 'Long'
  await service.client.post('/api/notes', { title: 'Donaudampfschifffahrtsgesellschaft'.repeat(3), content })
  const page = await visit(browser(), service, {
    path: '/notes',
    context: { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
  })
  await page.getByRole('heading', { name: 'Notes', level: 1 }).waitFor()
  await openPalette(page)
  await options(page).filter({ hasText: 'Donaudampf' }).waitFor()
  expect(await findings(page)).toEqual([])
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  expect(sideways).toBeLessThanOrEqual(0)
  expect(await page.locator('#list').evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0)
})
