import { expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { visit } from './page.ts'

const browser = useBrowser()

test('serves a page to browsers and JSON to programs at one address, and saves changes', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, {
    path: '/memory-config',
    expected: /status of 400/,
    slowTimers: true,
  })
  const { json } = await service.client.get('/memory-config')
  expect(await page.getByLabel('Maximum lines').inputValue()).toBe(String(json.maxInjectedMemories))
  await page.getByLabel('Maximum lines').fill('7')
  await page.getByLabel('Minimum relevance').fill('0.4')
  await page.getByLabel('Ask a model').check()
  await page.getByLabel('Model', { exact: true }).fill('small-model')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').first().waitFor()
  expect((await service.client.get('/memory-config')).json).toMatchObject({
    maxInjectedMemories: 7,
    relevanceThreshold: 0.4,
    arbitrator: { enabled: true, model: 'small-model' },
  })
  await page.reload()
  await expect.poll(() => page.getByLabel('Ask a model').isChecked()).toBe(true)

  await page.getByLabel('Maximum lines').fill('many')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('must be a number').waitFor()
  await page.getByLabel('Maximum lines').fill('5')
  await page.getByLabel('Minimum relevance').fill('7')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('input[name=relevanceThreshold][aria-invalid=true]').waitFor()
  expect((await service.client.get('/memory-config')).json.maxInjectedMemories).toBe(7)
})
