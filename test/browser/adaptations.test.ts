import { expect, test } from 'vitest'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { failFirstRequest, inFocus, visit } from './page.ts'

const browser = useBrowser()

test('writes, previews and disables standing instructions', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/adaptations', expected: /500/ })
  await page.getByRole('heading', { name: 'No standing instructions yet' }).waitFor()
  expect(await findings(page)).toEqual([])
  await page.getByRole('button', { name: 'Write an instruction' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter a name.').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('Tone of voice')
  await page.getByRole('textbox', { name: 'What Delegate should do' }).fill('Be brief. cerulean')
  await page.getByRole('checkbox', { name: 'Phone' }).uncheck()
  expect(await findings(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  const item = page.getByRole('list', { name: 'Standing instructions' }).getByRole('listitem')
  await item.filter({ hasText: 'Text messages' }).waitFor()
  expect((await service.client.get('/api/adaptations/tone-of-voice')).json.channels).toEqual(['chat', 'sms'])

  await page.getByRole('button', { name: 'Preview' }).click()
  const preview = page.getByRole('region', { name: 'Instructions' })
  await preview.filter({ hasText: 'cerulean' }).waitFor()
  const recover = await failFirstRequest(page, '**/api/adaptations.preview?*')
  await page.getByRole('group', { name: 'Channel' }).getByRole('button', { name: 'Phone' }).click()
  await page.getByRole('heading', { name: 'The instructions cannot be shown' }).waitFor()
  expect(await preview.count()).toBe(0)
  recover()
  await page.getByRole('button', { name: 'Try again' }).click()
  await preview.filter({ hasText: 'You are on the phone' }).waitFor()
  expect(await preview.textContent()).not.toContain('cerulean')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  const toggle = page.getByRole('switch', { name: 'Tone of voice: enabled' })
  await toggle.focus()
  await inFocus(toggle).waitFor()
  await page.keyboard.press('Space')
  await expect
    .poll(async () => (await service.client.get('/api/adaptations/tone-of-voice')).json.enabled)
    .toBe(false)
})

test('keeps the text of an instruction while the owner signs in again', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/adaptations', expected: /status of 401/ })
  const text = page.getByRole('textbox', { name: 'What Delegate should do' })
  const open = () => page.getByRole('button', { name: 'Write an instruction' }).click()
  await open()
  await text.fill('Be brief. cerulean')
  expect((await service.client.post('/logout')).status).toBeLessThan(400)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await open()
  expect(await text.inputValue()).toBe('Be brief. cerulean')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await open()
  expect(await text.inputValue()).toBe('')
})
