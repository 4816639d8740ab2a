import { expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { choose, visit, words } from './page.ts'

const browser = useBrowser()

test('shows the model, tokens and tools of a reply, and offers a retry when that fails', async () => {
  const { service, model } = await startWithModel()
  model.reply({ toolCalls: [{ name: 'note_create', arguments: { title: 'Garden', content: 'Roses' } }] })
  model.answerWith(() => ({ text: 'I noted it.' }))
  await service.client.post('/api/chat', { content: 'Make a note of roses' })
  const page = await visit(browser(), service, { expected: /500/ })
  const reply = words(page, 'Delegate', 'I noted it.')
  const ask = () => choose(reply, 'Why this reply')
  await ask()
  await page.getByText('Answered by test-model').waitFor()
  await page.getByText(/tokens in/).waitFor()
  await page.locator('summary', { hasText: 'note create' }).click()
  await expect.poll(() => page.locator('dg-why-dialog pre').first().textContent()).toContain('Roses')
  await page.locator('dg-why-dialog').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })

  await page.route('**/api/turns/*', (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
  await ask()
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Answered by test-model').waitFor()
})

test('lists the standing instructions of a reply by title, and removed ones by name', async () => {
  const { service, model } = await startWithModel()
  await service.client.post('/api/adaptations/brief', { title: 'Be brief', content: 'Three sentences.' })
  await service.client.post('/api/adaptations/morning_news', {
    title: 'Mornings',
    content: 'Begin with the news.',
  })
  model.answerWith(() => ({ text: 'Good morning.' }))
  await service.client.post('/api/chat', { content: 'Hello' })
  await service.client.delete('/api/adaptations/morning_news')
  const page = await visit(browser(), service)
  await choose(words(page, 'Delegate', 'Good morning.'), 'Why this reply')
  const given = page.locator('dg-why-dialog section').filter({ hasText: 'Standing instructions' })
  await given.waitFor()
  await expect
    .poll(() => given.getByRole('listitem').allInnerTexts())
    .toEqual(['Be brief', 'morning news since removed'])
})
