import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { failFirstRequest, visit, words } from './page.ts'

const browser = useBrowser()

const memory = (id: string, text: string, seq: number, keywords?: readonly string[]) => ({
  id,
  text,
  kind: 'preference',
  keywords,
  strength: 0.5,
  reinforcements: 2,
  createdAt: '2026-01-01T08:00:00.000Z',
  lastReinforcedAt: '2026-01-02T08:00:00.000Z',
  lastSurfacedAt: null,
  sources: [{ seq, conversationId: 'conversation' }],
})

/** Serves memories and erasures from the list. Returns the ids that the page erases. */
async function serveMemories(page: Page, list: ReturnType<typeof memory>[]): Promise<string[]> {
  const remaining = [...list]
  const deleted: string[] = []
  await page.route(/\/api\/memories/, (route) => {
    const url = new URL(route.request().url())
    const q = (url.searchParams.get('q') ?? '').toLowerCase()
    const isAsked = url.searchParams.get('pinned') !== 'true'
    const found = remaining.filter(({ text }) => isAsked && text.toLowerCase().includes(q))
    return route.fulfill({ json: { memories: found, count: found.length, nextCursor: null } })
  })
  await page.route(/\/api\/erasures/, (route) => {
    if (route.request().method() === 'GET') {
      const named = [{ kind: 'memory', count: 1, items: [] }]
      return route.fulfill({ json: { count: 1, undoMs: 60_000, named, derived: [], stays: [] } })
    }
    const { id } = route.request().postDataJSON() as { id: string }
    deleted.push(id)
    remaining.splice(
      remaining.findIndex((candidate) => candidate.id === id),
      1,
    )
    return route.fulfill({ status: 201, json: { id: 'erasure' } })
  })
  return deleted
}

test('searches memories, links to their sources, and asks before it forgets one', async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'Black it is.' }))
  await service.client.post('/api/chat', { content: 'I take my coffee black' })
  const { events } = (await service.client.get('/api/timeline')).json as {
    events: { type: string; seq: number }[]
  }
  const seq = events.find(({ type }) => type === 'chat.message.received')?.seq ?? 0
  const page = await visit(browser(), service)
  const deleted = await serveMemories(page, [
    memory('m1', 'You take your coffee black.', seq),
    memory('m2', 'Your sister lives in Lisbon.', seq, ['sibling', 'Portugal']),
  ])
  await page.goto('/memories')
  const items = page.getByRole('list', { name: 'Memories' }).getByRole('listitem')
  await expect.poll(() => items.count()).toBe(2)
  await page.getByRole('searchbox', { name: 'Search memories' }).fill('lisbon')
  await expect.poll(() => items.count()).toBe(1)
  await items.getByText('Also found by: sibling, Portugal').waitFor()
  await page.getByRole('button', { name: 'Forget: Your sister lives in Lisbon.' }).click()
  await page.getByText('It never comes up again').waitFor()
  await page.getByRole('button', { name: 'Erase', exact: true }).click()
  await page.getByRole('heading', { name: 'No matching memories' }).waitFor()
  expect(deleted).toEqual(['m2'])
  await page.getByRole('searchbox', { name: 'Search memories' }).fill('')
  await items.getByRole('link', { name: 'Show source' }).click()
  await words(page, 'You', 'I take my coffee black').waitFor()
  await page.locator('.row.found').waitFor()
  expect(new URL(page.url()).search).toMatch(/^\?seq=\d+$/)
})

test('learns from a message, shows the memory and its insights, and forgets it for good', async () => {
  let skewMs = 0
  const service = await startWholeService({ nowMs: () => Date.now() + skewMs })
  const page = await visit(browser(), service, { path: '/memories', slowTimers: true })
  await page.getByRole('heading', { name: 'Nothing remembered yet' }).waitFor()
  await service.client.post('/api/chat', { content: 'My favourite colour is teal.' })
  const items = page.getByRole('list', { name: 'Memories' }).getByRole('listitem')
  await items.filter({ hasText: 'My favourite colour is teal' }).waitFor()

  await page.getByRole('link', { name: 'Memory Insights' }).click()
  // Slotted content is not a descendant of the region, so search the page element.
  const region = page.locator('dg-memory-insights-page')
  const figure = (name: string) =>
    region
      .locator('dl > div')
      .filter({ has: page.getByText(name, { exact: true }) })
      .locator('dd.value')
  await expect.poll(() => figure('Active').textContent()).toBe('1')
  await expect.poll(() => figure('Forgotten').textContent()).toBe('0')
  await region.getByText('Remembered: My favourite colour is teal').waitFor()
  expect(await findings(page)).toEqual([])

  await page.getByRole('link', { name: 'Memories' }).first().click()
  await page.getByRole('button', { name: 'Forget: My favourite colour is teal' }).click()
  await page.getByText('1 memory', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: 'Erase', exact: true }).click()
  await page.getByRole('heading', { name: 'Nothing remembered yet' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await items.filter({ hasText: 'My favourite colour is teal' }).waitFor()
  await page.getByRole('button', { name: 'Forget: My favourite colour is teal' }).click()
  await page.getByRole('button', { name: 'Erase', exact: true }).click()
  await page.getByRole('heading', { name: 'Nothing remembered yet' }).waitFor()
  skewMs = 61_000
  await expect
    .poll(async () => (await service.client.get('/api/erasures')).json.erasures[0].status)
    .toBe('erased')
  await expect.poll(() => page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  await page.goto('/settings/memory')
  await expect.poll(() => figure('Forgotten').textContent()).toBe('1')
  await expect.poll(() => region.getByText('favourite colour').count()).toBe(0)
})

test('confirms an unconfirmed memory by a button that names it', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  let status = 'provisional'
  await page.route('**/api/memories?*', (route) => {
    const unsure = { ...memory('m1', 'You drink tea.', 1), status, validUntil: null }
    if (new URL(route.request().url()).searchParams.get('pinned') === 'true')
      return route.fulfill({ json: { memories: [], count: 0, nextCursor: null } })
    return route.fulfill({ json: { memories: [unsure], count: 1, nextCursor: null } })
  })
  const confirmed = Promise.withResolvers<void>()
  await page.route('**/api/memories/m1/restore', async (route) => {
    await confirmed.promise
    status = 'active'
    return route.fulfill({ json: {} })
  })
  await page.goto('/memories')
  const button = page.getByRole('button', { name: 'Confirm: You drink tea.' })
  await button.click()
  await button.filter({ hasText: 'One moment…' }).waitFor()
  expect(await button.isDisabled()).toBe(true)
  confirmed.resolve()
  await button.waitFor({ state: 'detached' })
  await page.getByText('Memory confirmed').waitFor()
})

test('offers a retry when the insights cannot be loaded', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { expected: /500/ })
  const recover = await failFirstRequest(page, '**/api/memories/insights')
  await page.goto('/settings/memory')
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  recover()
  await page.getByRole('heading', { name: 'Nothing yet' }).waitFor()
})

test('offers a retry when memories cannot be loaded, and explains an empty list', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { expected: /500/ })
  await serveMemories(page, [])
  const recover = await failFirstRequest(page, '**/api/memories?*')
  await page.goto('/memories')
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  recover()
  await page.getByRole('heading', { name: 'Nothing remembered yet' }).waitFor()
})
