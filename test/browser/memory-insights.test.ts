import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { httpFaults } from '../doubles/model/script.ts'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { visit } from './page.ts'

const browser = useBrowser()

const EMBEDDING = { EMBEDDING_MODEL: 'test-embedding' }

/** The texts of the row for recall by meaning, with whitespace collapsed. */
async function byMeaning(page: Page): Promise<readonly string[]> {
  const row = page
    .locator('dg-memory-insights-page dl > div')
    .filter({ has: page.getByText('By meaning', { exact: true }) })
  const texts = await row.locator('dd').allTextContents()
  return texts.map((text) => text.replaceAll(/\s+/g, ' ').trim())
}

/** Checks the row in every look. */
const check = (page: Page, name: string) =>
  checkLooks(page, name, page.getByText('By meaning', { exact: true }))

test('shows that recall by meaning is off without an embedding model, and links to the setting', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/settings/memory' })
  await expect
    .poll(() => byMeaning(page))
    .toEqual(['Off', 'No embedding model is set, so memories are found by keywords only. Settings'])
  await check(page, 'insights-off')
  await page.locator('dg-memory-insights-page').getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { name: 'Model service' }).and(page.locator(':focus')).waitFor()
})

test('updates the embedding progress without an event until every text is embedded', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel({ environment: EMBEDDING })
  const page = await visit(browser(), service, { path: '/settings/memory' })
  await expect
    .poll(() => byMeaning(page))
    .toEqual(['Ready', 'New messages will be embedded by test-embedding'])
  model.answerWith(() => ({ text: 'Noted.' }))
  const gate = Promise.withResolvers<void>()
  model.replyTo('/embeddings', { pause: { at: 'headers', until: gate.promise } })
  await service.client.post('/api/chat', { content: 'We are off to Lisbon.' })
  await expect.poll(() => model.requests('/embeddings').length).toBeGreaterThan(0)
  await page.reload()
  await expect
    .poll(() => byMeaning(page))
    .toEqual([
      expect.stringMatching(/^0 of [12]$/),
      'Turns and memories embedded by test-embedding; the rest are in progress',
    ])
  await check(page, 'insights-reading')
  gate.resolve()
  await expect
    .poll(() => byMeaning(page))
    .toEqual([
      expect.stringMatching(/^(?:1 of 1|2 of 2)$/),
      'All turns and memories are embedded by test-embedding',
    ])
  await check(page, 'insights-ready')
})

test('shows why embedding fails and when it retries, and recovers on its own', {
  tags: ['long'],
}, async () => {
  let frozenAtMs = Number.POSITIVE_INFINITY
  const nowMs = () => Math.min(Date.now(), frozenAtMs)
  const { service, model } = await startWithModel({ environment: EMBEDDING, nowMs })
  model.answerWith(() => ({ text: 'Noted.' }))
  model.replyTo('/embeddings', { fault: httpFaults.unauthorised() })
  // Freezes the clock, so that no retry runs before the page shows the failure.
  frozenAtMs = Date.now()
  await service.client.post('/api/chat', { content: 'We are off to Lisbon.' })
  await expect
    .poll(async () => (await service.client.get('/api/memories/insights')).json.runtime.embedding.state)
    .toBe('waiting')
  const page = await visit(browser(), service, { path: '/settings/memory' })
  await expect
    .poll(() => byMeaning(page))
    .toEqual([
      expect.stringMatching(/^0 of [12]$/),
      'test-embedding rejected the key; next retry soon. Until then, new texts are found by keywords only',
    ])
  await check(page, 'insights-failing')
  frozenAtMs = Number.POSITIVE_INFINITY
  await expect
    .poll(async () => (await byMeaning(page))[1])
    .toBe('All turns and memories are embedded by test-embedding')
})
