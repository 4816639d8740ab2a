import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService, type WholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { hasCopy, keepCopy, startProxy, visitApp } from './installed.ts'
import { words } from './page.ts'

const browser = useBrowser()

test('removes the copy when Delegate opens after its session was ended elsewhere', async () => {
  const service = await startWholeService()
  const page = await visitApp(browser(), service)
  await keepCopy(page)
  // A page renews the copy once it is connected. Nothing renews it after that, so it is whole.
  await page.goto('/docs')
  const renewed = page.waitForResponse('**/api/offline-copy')
  await page.goto('/')
  await renewed
  await page.goto('/docs')
  expect(await hasCopy(page)).toBe(true)
  await service.client.post('/logout')
  await page.goto('/')
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
  await expect.poll(() => hasCopy(page)).toBe(false)
})

/** How a session ends while a page of it is open. */
const ends = {
  'the owner signs out': (page: Page) =>
    page.getByRole('button', { name: 'Sign out', exact: true }).first().click(),
  'the session is ended elsewhere': (_: Page, { client }: WholeService) => client.post('/logout'),
}

for (const [cause, end] of Object.entries(ends))
  test(`restores no copy when ${cause} while it is being renewed`, async () => {
    const service = await startWholeService()
    // A request of the page may meet the end of the session.
    const page = await visitApp(browser(), service, { expected: /status of 401|WebSocket connection/ })
    await keepCopy(page)
    // Holds back the last answer that the renewal asks for.
    await page.addInitScript(() => {
      const { fetch } = window
      const { promise, resolve } = Promise.withResolvers<void>()
      Object.assign(window, {
        release: resolve,
        fetch: async (...given: Parameters<typeof fetch>) => {
          const answer = await fetch(...given)
          if (String(given[0]).startsWith('/api/memories')) await promise
          return answer
        },
      })
    })
    const asked = page.waitForResponse('**/api/memories?*')
    await page.goto('/')
    await asked
    await end(page, service)
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    await expect.poll(() => hasCopy(page)).toBe(false)
    const restored = page.evaluate(async () => {
      Reflect.get(window, 'release')()
      // A browser makes calls of the cache in their order: the last comes after those of the renewal.
      const found: boolean[] = []
      while (found.length < 10) found.push(await caches.has('delegate-copy'))
      return found.at(-1)
    })
    expect(await restored).toBe(false)
  })

test('opens offline while a proxy answers that the service is down', async () => {
  const service = await startWholeService()
  const proxy = await startProxy(service)
  const page = await visitApp(
    browser(),
    { ...service, origin: proxy.origin },
    { expected: /status of 50[234]|ERR_FAILED|WebSocket connection/ },
  )
  await service.client.post('/api/chat', { content: 'What time is it?' })
  const note = await service.client.post('/api/notes', { title: 'Garden', content: 'Sow the beans in May.' })
  await service.client.post('/api/memories', { text: 'My sister is called Ada.' })
  await keepCopy(page)
  for (const status of [502, 504]) {
    proxy.status = status
    await page.goto('/')
    await words(page, 'You', 'What time is it?').waitFor()
    await page.goto('/notes')
    await page.getByRole('link', { name: /Garden/ }).waitFor()
    await page.goto(`/notes/${note.json.id}`)
    await page.getByText('Sow the beans in May.').waitFor()
    await page.goto('/memories')
    await page.getByText('My sister is called Ada.').waitFor()
  }
  // A standby answers with its own page.
  proxy.status = 503
  await page.goto('/')
  await page.getByText('The proxy answers 503.').waitFor()
})
