import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { composer, inFocus, phone, pressUntilShown, visit } from './page.ts'

const browser = useBrowser()

const path = (page: Page) => new URL(page.url()).pathname

test('opens a page with G and a letter, focuses its content and announces its name', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers' })
  await page.getByRole('heading', { name: 'No reminders yet' }).waitFor()
  await pressUntilShown(page, ['g', 't'], inFocus(composer(page)))
  expect(path(page)).toBe('/')
  // In a field, the same keys type letters.
  await page.keyboard.type('gi')
  await expect.poll(() => composer(page).inputValue()).toBe('gi')
  await page.getByRole('link', { name: 'Reminders' }).focus()
  const content = page.getByRole('region', { name: 'Reminders' })
  await pressUntilShown(page, ['g', 'i'], inFocus(content))
  expect(path(page)).toBe('/timers')
  // Only Tab draws a frame around it.
  const hasFrame = () => content.evaluate((region) => region.matches(':focus-visible'))
  expect(await hasFrame()).toBe(false)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Shift+Tab')
  await inFocus(content).waitFor()
  expect(await hasFrame()).toBe(true)
  await page.getByRole('log').filter({ hasText: 'Reminders' }).waitFor({ state: 'attached' })
  await page.goBack()
  await composer(page).waitFor()
})

test('skips the navigation with the first Tab stop, and opens the search from any page', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers' })
  await page.getByRole('heading', { name: 'No reminders yet' }).waitFor()
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Skip to content' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Reminders' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Control+Shift+F')
  await page.getByRole('searchbox', { name: 'Search the timeline' }).and(page.locator(':focus')).waitFor()
  expect(path(page)).toBe('/')
  expect(new URL(page.url()).search).toBe('')
})

test('shows the version in the navigation, with a link to About', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const { version } = (await service.client.get('/build-info.json')).json
  const page = await visit(browser(), service)
  await page.getByRole('link', { name: `Delegate ${version}`, exact: true }).click()
  await inFocus(page.getByRole('heading', { name: 'About' })).waitFor()
  // Also from elsewhere on the same page.
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByLabel('Current password').focus()
  await page.getByRole('link', { name: `Delegate ${version}`, exact: true }).click()
  await inFocus(page.getByRole('heading', { name: 'About' })).waitFor()
})

test('closes the navigation drawer on a phone once a page is chosen', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { context: { viewport: phone } })
  await composer(page).waitFor()
  expect(await page.getByRole('link', { name: 'Reminders' }).isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('link', { name: 'Reminders' }).click()
  await page.getByRole('heading', { name: 'No reminders yet' }).waitFor()
  await page.getByRole('link', { name: 'Reminders' }).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('link', { name: 'Timeline' }).click()
  await composer(page).waitFor()
})

test('keeps the navigation and drafts usable when a page cannot be loaded', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, {
    expected: /ERR_INTERNET_DISCONNECTED|WebSocket/,
    context: { viewport: phone },
  })
  await composer(page).fill('Half of a sentence')
  const isWhole = (image: HTMLImageElement) => image.complete && image.naturalWidth > 0
  await expect.poll(() => page.locator('.brand img').evaluate(isWhole)).toBe(true)
  await page.context().setOffline(true)
  const go = async (name: string) => {
    await page.getByRole('button', { name: 'Open navigation' }).click()
    await page.getByRole('link', { name, exact: true }).click()
  }
  await go('Notes')
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
  await page.getByRole('heading', { name: 'Notes', level: 1 }).waitFor()
  await go('Timeline')
  await expect.poll(() => composer(page).inputValue()).toBe('Half of a sentence')
  expect(await page.locator('.brand img').evaluate(isWhole)).toBe(true)
  await go('Notes')
  // Waits for the second failure before going online.
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
})

test('shows a list that could not be loaded once the service is there again', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes', expected: /ERR_FAILED/ })
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await page.route('**/api/memories*', (route) => route.abort())
  await page.getByRole('link', { name: 'Memories', exact: true }).click()
  await page.getByRole('heading', { name: 'The memories cannot be shown' }).waitFor()
  await page.unroute('**/api/memories*')
  await page.getByRole('heading', { name: 'Nothing remembered yet' }).waitFor()
})

test('transfers at most 200 kB for the first page with an empty cache', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  await composer(page).waitFor()
  const bytes = await page.evaluate(() =>
    performance
      .getEntries()
      .filter((entry) => entry instanceof PerformanceResourceTiming)
      .filter(({ name }) => !/\/(?:api|openapi\.json)/.test(new URL(name).pathname))
      .reduce((sum, { transferSize }) => sum + transferSize, 0),
  )
  expect(bytes).toBeGreaterThan(30_000)
  expect(bytes).toBeLessThan(200_000)
})
