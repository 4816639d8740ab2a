import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { composer, inFocus, phone, strikeUntil, visit } from './page.ts'

const browser = useBrowser()

const path = (page: Page) => new URL(page.url()).pathname

test('G and a letter lead to a page, whose content then has the focus and whose name is read out', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers' })
  await page.getByRole('heading', { name: 'No timers yet' }).waitFor()
  await strikeUntil(page, ['g', 't'], inFocus(composer(page)))
  expect(path(page)).toBe('/')
  // In a field they are letters.
  await page.keyboard.type('gi')
  await expect.poll(() => composer(page).inputValue()).toBe('gi')
  await page.getByRole('link', { name: 'Timers' }).focus()
  await strikeUntil(page, ['g', 'i'], inFocus(page.getByRole('region', { name: 'Timers' })))
  expect(path(page)).toBe('/timers')
  await page.getByRole('log').filter({ hasText: 'Timers' }).waitFor({ state: 'attached' })
  await page.goBack()
  await composer(page).waitFor()
})

test('the first thing that Tab reaches skips the navigation, and the search is a key away from any page', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers' })
  await page.getByRole('heading', { name: 'No timers yet' }).waitFor()
  await page.keyboard.press('Tab')
  await page.getByRole('link', { name: 'Skip to content' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Timers' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search the timeline' }).and(page.locator(':focus')).waitFor()
  expect(path(page)).toBe('/')
  expect(new URL(page.url()).search).toBe('')
})

test('the navigation tells the version, which leads to what else is known of it', async () => {
  const service = await startWholeService()
  const { version } = (await service.client.get('/build-info.json')).json
  const page = await visit(browser(), service)
  await page.getByRole('link', { name: `Delegate ${version}`, exact: true }).click()
  await inFocus(page.getByRole('heading', { name: 'About' })).waitFor()
  // From elsewhere on the same page too.
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByLabel('Current password').focus()
  await page.getByRole('link', { name: `Delegate ${version}`, exact: true }).click()
  await inFocus(page.getByRole('heading', { name: 'About' })).waitFor()
})

test('on a phone the navigation is a drawer that closes behind the page that was chosen', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { context: { viewport: phone } })
  await composer(page).waitFor()
  expect(await page.getByRole('link', { name: 'Timers' }).isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('link', { name: 'Timers' }).click()
  await page.getByRole('heading', { name: 'No timers yet' }).waitFor()
  await page.getByRole('link', { name: 'Timers' }).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('link', { name: 'Timeline' }).click()
  await composer(page).waitFor()
})

test('a page that cannot be loaded leaves the way to the others, and what was typed there', async () => {
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
  expect(await composer(page).inputValue()).toBe('Half of a sentence')
  expect(await page.locator('.brand img').evaluate(isWhole)).toBe(true)
  await go('Notes')
  // Refused once more, before there is a network to have it from.
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
})

test('the first page weighs at most 200 kB on its way, with nothing kept from before', async () => {
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

test('a page says with its first answer which scripts it is made of: none has to be found out by running another', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/settings' })
  const links = page.locator('nav[aria-label=Pages] a')
  await links.first().waitFor()
  const listed = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  expect(listed).toEqual(expect.arrayContaining(['/', '/memories', '/logs']))
  const modules = (await service.client.get('/modules.json')).json
  // What opens above the timeline is fetched once that is there, be it just before the next page.
  const later = filesOf(modules, 'src/pages/timeline-dialogs.ts')
  for (const address of [
    ...listed,
    '/notes/edit',
    '/settings/memory',
    '/memory-config',
    '/welcome',
    '/login',
  ]) {
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/assets/') && request.resourceType() === 'script')
        asked.push(new URL(request.url()).pathname)
    })
    // Who is signed in is led on from there.
    if (address === '/login') {
      await page.goto('about:blank')
      await page.context().clearCookies()
    }
    const answer = await page.goto(address)
    await page
      .locator('dg-page, dg-composer textarea, dg-login-page input, dg-welcome-page h1')
      .first()
      .waitFor()
    page.removeAllListeners('request')
    const link = answer?.headers().link ?? ''
    const named = [...link.matchAll(/<([^>]+)>; rel=modulepreload/g)].flatMap(([, file]) => file ?? [])
    const needed = asked.filter((file) => named.includes(file) || !later.has(file))
    expect([address, named.toSorted()]).toEqual([address, [...new Set(needed)].toSorted()])
  }
})

type Modules = Readonly<Record<string, { readonly file: string; readonly imports?: readonly string[] }>>

/** The files of a module and of all that it imports. */
function filesOf(modules: Modules, name: string): ReadonlySet<string> {
  const { file, imports = [] } = modules[name] ?? { file: '' }
  return new Set([`/${file}`, ...imports.flatMap((imported) => [...filesOf(modules, imported)])])
}
