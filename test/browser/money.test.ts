import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { choose, failFirstRequest, inFocus, phone, visit, words } from './page.ts'

const browser = useBrowser()
/** 13,000 tokens of input cost $1.30. */
const PRICES = JSON.stringify({ models: { 'test-model': { input: 100, output: 0.01 } } })
const DEAR = { inputTokens: 13_000, outputTokens: 0, cachedTokens: 0 }

test('asks in the chat at the end of the allowance, and goes on with one button', async () => {
  const { service, model } = await startWithModel({ environment: { PRICES, ALLOWANCE_DAY: '1.5' } })
  model.answerWith(() => ({ text: 'Certainly.', usage: DEAR }))
  const page = await visit(browser(), service, { context: { viewport: phone } })
  const say = async (text: string) => {
    await page.getByRole('textbox', { name: /message/i }).fill(text)
    await page.keyboard.press('Enter')
  }
  await say('Plan my trip')
  await words(page, 'Delegate', 'Certainly.').waitFor()
  await page.getByText('$1.30 of the $1.50 for 24 hours are spent. Background work stops at 90 %').waitFor()
  await choose(words(page, 'Delegate', 'Certainly.'), 'Why this reply')
  await page.locator('dg-why-dialog').getByText('$1.30').waitFor()
  await page.keyboard.press('Escape')

  await say('And the hotel')
  await page.getByText('The allowance of $1.50 for 24 hours is used up: $0.20 is left').waitFor()
  const asked = turnRequests(model).length
  await checkLooks(page, 'allowance-used-up')
  await page.getByRole('button', { name: 'Allow another $5 and try again' }).click()
  await page.getByText('You allowed another $5.00 for 24 hours').waitFor()
  await expect.poll(() => turnRequests(model).length).toBeGreaterThan(asked)
  await expect.poll(() => words(page, 'Delegate', 'Certainly.').count()).toBe(2)
})

test('shows money by day, purpose and channel, empty at first, and offers a retry', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel({ environment: { PRICES } })
  model.answerWith(() => ({ text: 'Certainly.', usage: { ...DEAR, inputTokens: 3100 } }))
  const page = await visit(browser(), service, { path: '/timers', expected: /500/ })
  const recover = await failFirstRequest(page, '**/api/spending?*')
  await page.getByRole('link', { name: 'Operations' }).click()
  const money = page.getByRole('region', { name: 'Money' })
  await money.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await money.getByRole('button', { name: 'Try again' }).click()
  recover()
  await money.getByText('Nothing was spent').waitFor()
  await money.getByText('$0.00 of $20.00').waitFor()
  for (const content of ['One', 'Two'])
    expect((await service.client.post('/api/chat', { content })).status).toBe(200)
  await money.getByRole('row', { name: 'Replies $0.62' }).waitFor()
  await money.getByRole('row', { name: /^Learning \$0\.0\d+/ }).waitFor()
  await page.getByRole('button', { name: 'the last 30 days' }).click()
  await money.getByRole('table', { name: 'By day' }).getByRole('row').waitFor()
  await money.getByRole('row', { name: /^Chat / }).waitFor()
  await checkLooks(page, 'money')
})

test('asks for an unknown price, and takes it in the price table', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel({
    // Not an address of this machine that the service knows, so its model may cost something.
    modelHost: '0.0.0.0',
    environment: { UTILITY_MODEL: 'gpt-5.4-mini', PRICES: '{}' },
  })
  model.answerWith(() => ({ text: 'Certainly.', usage: DEAR }))
  await service.client.post('/api/chat', { content: 'Hello' })
  const page = await visit(browser(), service, { expected: /status of 400/ })
  await page.getByRole('link', { name: 'What does test-model cost?' }).click()
  const money = page.getByRole('region', { name: 'Money' })
  const row = money.getByRole('listitem').filter({ hasText: 'test-model' })
  await row.getByText('price unknown').waitFor()
  await row.getByLabel('Input', { exact: true }).fill('1.5')
  await row.getByLabel('Output', { exact: true }).fill('6')
  await money.getByLabel('Allowance for 24 hours').fill('12.50')
  await money.getByLabel('Text segment').fill('0.1')
  await page.getByText('2 changes not saved').waitFor()
  await checkLooks(page, 'prices')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await row.getByText('price unknown').waitFor({ state: 'detached' })
  expect(await findings(page)).toEqual([])
  const { json } = await service.client.get('/api/spending')
  expect(json.prices.models[0]).toEqual({
    model: 'test-model',
    inUse: true,
    listed: null,
    price: { input: 1.5, output: 6 },
  })
  expect(json.prices).toMatchObject({ textSegment: 0.1, callMinute: 0.02 })
  expect(json.windows[0].limitMicros).toBe(12_500_000)

  await money.getByRole('button', { name: 'Reset Prices' }).click()
  await row.getByText('price unknown').waitFor()
  await money.getByLabel('Text segment').fill('-1')
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await money.getByText('must have prices from 0 to 10,000').waitFor()
})

async function openPrices() {
  const { service } = await startWithModel({ modelHost: '0.0.0.0', environment: { PRICES: '' } })
  const page = await visit(browser(), service, { path: '/settings', expected: /status of 400/ })
  const row = (model: string) =>
    page.getByRole('region', { name: 'Money' }).getByRole('listitem').filter({ hasText: model })
  const submit = () => page.getByRole('button', { name: 'Save', exact: true }).click()
  return {
    row,
    submit,
    price: (model: string, field: string) => row(model).getByLabel(field, { exact: true }),
    enter: async (field: Locator, text: string) => {
      await field.fill(text)
      await field.blur()
    },
    save: async () => {
      await submit()
      await page.getByText('not saved').waitFor({ state: 'detached' })
    },
    stored: async () => {
      const { json } = await service.client.get('/api/config?key=PRICES')
      return JSON.parse(json.entries[0].value ?? 'null')
    },
  }
}

test('takes an emptied price for the list price, or an unknown one', async () => {
  const { row, price, enter, submit, save, stored } = await openPrices()
  await enter(price('gpt-5.5', 'Output'), '20')
  await enter(price('gpt-5.5', 'Input'), '')
  await save()
  const changed = { input: 5, cachedInput: 0.5, output: 20 }
  expect(await stored()).toEqual({ models: { 'gpt-5.5': changed } })
  await enter(price('gpt-5.5', 'Output'), '')
  await enter(price('test-model', 'Output'), '6')
  await submit()
  await row('test-model').getByText('must have both an input and an output price').waitFor()
  await inFocus(price('test-model', 'Input')).waitFor()
  await enter(price('test-model', 'Input'), '0')
  await save()
  expect(await stored()).toEqual({ models: { 'test-model': { input: 0, output: 6 } } })
  await enter(price('test-model', 'Input'), '')
  await enter(price('test-model', 'Output'), '')
  await save()
  await row('test-model').getByText('price unknown').waitFor()
  expect(await stored()).toEqual({ models: {} })
})

test('reports a wrong price at its model, and takes a decimal comma', async () => {
  const { row, price, enter, submit, save, stored } = await openPrices()
  for (const wrong of ['-1', '1,000', 'five']) {
    await enter(price('gpt-5.5', 'Output'), wrong)
    await submit()
    await row('gpt-5.5').getByText('must have prices from 0 to 10,000').waitFor()
    await inFocus(price('gpt-5.5', 'Output')).waitFor()
  }
  expect(await row('Telephony').getByText('must have').count()).toBe(0)
  await enter(price('gpt-5.5', 'Output'), '1,5')
  await save()
  expect(await stored()).toEqual({ models: { 'gpt-5.5': { input: 5, cachedInput: 0.5, output: 1.5 } } })
})
