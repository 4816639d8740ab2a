import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { failFirstRequest, visit } from './page.ts'

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
  // Not "Saved", because the unsaved changes are counted with the word, too.
  await expect
    .poll(async () => (await service.client.get('/memory-config')).json)
    .toMatchObject({
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
  await page.getByText('It must be at most 1.', { exact: true }).waitFor()
  await page.getByLabel('Minimum relevance').fill('0.5')
  await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(0)
  expect((await service.client.get('/memory-config')).json.maxInjectedMemories).toBe(7)
})

test('keeps unsaved changes while another page is shown, until they are discarded', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/memory-config' })
  const { json } = await service.client.get('/memory-config')
  const lines = page.getByLabel('Maximum lines')
  await lines.fill('7')
  await page.getByLabel('Minimum relevance').fill('0.9')
  await page.getByLabel('Ask a model').check()
  await page.getByRole('link', { name: 'Settings', exact: true }).last().click()
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Recall settings' }).click()
  await expect.poll(() => lines.inputValue()).toBe('7')
  expect(await page.getByRole('slider').inputValue()).toBe('0.9')
  expect(await page.getByLabel('Ask a model').isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect.poll(() => lines.inputValue()).toBe(String(json.maxInjectedMemories))
  expect(await page.getByLabel('Minimum relevance').inputValue()).toBe(String(json.relevanceThreshold))
  expect(await page.getByLabel('Ask a model').isChecked()).toBe(false)
  expect((await service.client.get('/memory-config')).json).toEqual(json)
})

const SAID = [
  'My sister is called Ada.',
  'My sister Ada lives in Lisbon.',
  'The ferry to Lisbon leaves at nine.',
  'I live in Porto.',
  'What is my sister called?',
  'When does the ferry leave?',
  'Where does my sister live, in Porto or in Lisbon?',
  'Good morning!',
]

test('shows which lines would come and go for the last messages as the threshold moves', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  for (const content of SAID) {
    const { json } = await service.client.post('/api/chat', { content })
    await service.client.post(`/api/conversations/${json.conversationId}/end`)
  }
  const page = await visit(browser(), service, { path: '/memory-config', slowTimers: true })
  const examples = page.getByRole('list', { name: 'Examples' })
  await examples.getByText('Good morning!').waitFor()
  const about = (question: string) => examples.locator('> li').filter({ hasText: question })
  await about('What is my sister called?').getByText('My sister is called Ada').waitFor()
  await about('Good morning!').getByText('Nothing shown').waitFor()
  const status = page.getByRole('status').filter({ hasText: 'for your last 8 messages' })
  const before = await status.textContent()
  expect(before).toMatch(/^[1-9]\d* lines for your last 8 messages\.$/)

  const slider = page.getByRole('slider', { name: 'Fewer or more memories' })
  await slider.focus()
  await page.keyboard.press('End')
  await status.filter({ hasText: /: 0 added and [1-9]\d* dropped/ }).waitFor()
  expect(await page.getByLabel('Minimum relevance').inputValue()).toBe('1')
  await page.keyboard.press('Home')
  await status.filter({ hasText: /: [1-9]\d* added and \d+ dropped/ }).waitFor()
  await page.getByLabel('Minimum relevance').fill('0.6')
  await about('in Porto or in Lisbon?').getByText('dropped').first().waitFor()
  expect(await slider.inputValue()).toBe('0.6')
  await checkLooks(page, 'recall-examples', slider)

  await page.getByLabel('Minimum relevance').fill('')
  await expect.poll(() => status.textContent()).toBe(before)
  await page.getByLabel('Minimum relevance').fill('1')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await service.client.get('/memory-config')).json.relevanceThreshold).toBe(1)
  await expect.poll(() => status.textContent()).toMatch(/^\d+ lines? for your last 8 messages\.$/)
})

test('offers a retry when the examples cannot be loaded, and explains that there are none', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { expected: /500/ })
  const recover = await failFirstRequest(page, '**/api/memories/recall-examples')
  await page.goto('/memory-config')
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByLabel('Maximum lines').fill('7')
  await page.getByRole('button', { name: 'Try again' }).click()
  recover()
  await page.getByText('Send a message, and it becomes an example here.').waitFor()
  expect(await page.getByLabel('Maximum lines').inputValue()).toBe('7')
  expect((await service.client.get('/memory-config')).json.maxInjectedMemories).toBe(6)
})
