import type { BrowserContext, Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { PASSWORD, startWholeService, type WholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { visit, words } from './page.ts'

const browser = useBrowser()

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

async function setPassword(page: Page): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await heading(page, 'Where are you?').waitFor()
}

async function settingOf(context: BrowserContext, service: WholeService, key: string) {
  const { entries } = await (await context.request.get(`${service.origin}/api/config`)).json()
  return entries.find((entry: { key: string }) => entry.key === key)
}

async function chooseOther(page: Page, address: string): Promise<void> {
  await page.getByRole('button', { name: /^Other/ }).click()
  await page.getByLabel('Address').fill(address)
}

/** Closes the page and opens the service in a new one. */
async function comeBack(page: Page, service: WholeService): Promise<Page> {
  const context = page.context()
  await page.close()
  const again = await context.newPage()
  await again.goto(service.origin)
  return again
}

test('resumes set-up at the step where the owner left, without losing settings', {
  tags: ['long'],
}, async () => {
  const model = await startModelDouble({ validate: false, models: ['house-model'] })
  onTestFinished(() => model.close())
  model.answerWith(() => ({ text: 'Hello to you.' }))
  const service = await startWholeService({ installed: false })
  let page = await visit(browser(), service, { signedIn: false, context: { timezoneId: 'Europe/Lisbon' } })
  const context = page.context()

  // Until the password is set, set-up starts over.
  page = await comeBack(page, service)
  await heading(page, 'Meet your delegate').waitFor()
  await page.goto(`${service.origin}/install#${service.setupCode}`)
  await setPassword(page)
  expect(await settingOf(context, service, 'TIMEZONE')).toMatchObject({
    value: 'Europe/Lisbon',
    source: 'stored',
  })

  page = await comeBack(page, service)
  await heading(page, 'Where are you?').waitFor()
  await page.getByLabel('Time zone').fill('Europe/Berlin')
  await page.getByText(/^It is .* there\.$/).waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await heading(page, 'Choose a model').waitFor()
  expect(await settingOf(context, service, 'TIMEZONE')).toMatchObject({ value: 'Europe/Berlin' })

  page = await comeBack(page, service)
  await heading(page, 'Choose a model').waitFor()
  await chooseOther(page, model.url)
  await page.getByLabel('API key').fill('sk-canary-of-the-wizard')
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByRole('list', { name: 'Test passed' }).waitFor()
  // Nothing is saved before the model is chosen.
  page = await comeBack(page, service)
  await heading(page, 'Choose a model').waitFor()
  expect(await settingOf(context, service, 'OPENAI_BASE_URL')).toMatchObject({ source: 'unset' })
  await chooseOther(page, model.url)
  await page.getByLabel('API key').fill('sk-canary-of-the-wizard')
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByRole('radio', { name: 'house-model', checked: true }).waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await heading(page, 'Connect a phone').waitFor()
  expect(await page.content()).not.toContain('canary')

  await heading(page, 'Connect a phone').waitFor()
  page = await comeBack(page, service)
  await heading(page, 'Connect a phone').waitFor()
  await page.getByRole('button', { name: 'Back' }).click()
  await heading(page, 'Choose a model').waitFor()
  await page.getByText('replies with house-model').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Not now' }).click()

  await heading(page, 'Say hello').waitFor()
  page = await comeBack(page, service)
  await heading(page, 'Say hello').waitFor()
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Enter a message, or choose one.').waitFor()
  await page.getByRole('textbox', { name: 'Say something' }).fill('Good morning')
  await page.keyboard.press('Enter')
  await page.getByText('Hello to you.').waitFor()
  await page.getByRole('button', { name: 'Go to your timeline' }).waitFor()

  // The first message completes set-up, even if the owner leaves from here.
  page = await comeBack(page, service)
  await words(page, 'You', 'Good morning').waitFor()
  await words(page, 'Delegate', 'Hello to you.').waitFor()
})

test('keeps and saves what the owner enters before the settings load', { tags: ['long'] }, async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, {
    signedIn: false,
    expected: /status of 400/,
    context: { timezoneId: 'Europe/Lisbon' },
  })
  let gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  const loaded = Promise.withResolvers<void>()
  await page.route('**/api/config', async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    await gate.promise
    await route.fulfill({ response: await route.fetch() })
    loaded.resolve()
  })
  await setPassword(page)
  await page.getByLabel('Time zone').fill('Europe/Berlin')
  gate.resolve()
  await loaded.promise
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
  expect(await page.getByLabel('Time zone').inputValue()).toBe('Europe/Berlin')
  await page.getByRole('button', { name: 'Continue' }).click()
  await heading(page, 'Choose a model').waitFor()
  expect(await settingOf(page.context(), service, 'TIMEZONE')).toMatchObject({ value: 'Europe/Berlin' })

  // A step that compares input with the settings waits until they load.
  await page.getByRole('button', { name: /^Without a service for now/ }).click()
  await page.getByLabel('Account SID').fill('AC-of-the-wizard')
  await page.getByRole('button', { name: 'Save and test' }).click()
  await page.getByRole('list', { name: 'Test failed' }).waitFor()
  gate = Promise.withResolvers<void>()
  await page.reload()
  await heading(page, 'Connect a phone').waitFor()
  await page.getByRole('status', { name: 'Loading the settings' }).waitFor()
  expect(await page.getByRole('button', { name: 'Save and test' }).count()).toBe(0)
  gate.resolve()
  await expect.poll(() => page.getByLabel('Account SID').inputValue()).toBe('AC-of-the-wizard')
})

test('shows which check failed, and leaves nothing half set up when the step is skipped', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false, expected: /status of 400/ })
  await setPassword(page)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^OpenAI/ }).click()
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByText('Enter your key for OpenAI.').waitFor()
  await page.getByRole('button', { name: 'Choose another' }).click()
  await chooseOther(page, 'not an address')
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByText('Enter an address that begins with http:// or https://.').waitFor()
  await page.getByLabel('Address').fill('http://127.0.0.1:9/v1')
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByRole('list', { name: 'Test failed' }).waitFor()
  await page.getByRole('button', { name: 'Choose another' }).click()
  await page.getByRole('button', { name: 'Without a service for now' }).click()
  await heading(page, 'Connect a phone').waitFor()
  expect(await settingOf(page.context(), service, 'OPENAI_BASE_URL')).toMatchObject({ source: 'unset' })
  // The phone is saved before its test, and reset when the step is skipped.
  await page.getByRole('button', { name: 'Save and test' }).click()
  await page.getByText('Enter the account, or set up the phone later.').waitFor()
  await page.getByLabel('Public URL').fill('not an address')
  await page.getByRole('button', { name: 'Save and test' }).click()
  await page.getByText(/^It must be an origin/).waitFor()
  await page.getByLabel('Public URL').fill('')
  await page.getByLabel('Account SID').fill('AC-of-the-wizard')
  await page.getByRole('button', { name: 'Save and test' }).click()
  await page.getByRole('list', { name: 'Test failed' }).waitFor()
  await page.getByRole('button', { name: 'Not now' }).click()
  await heading(page, 'Say hello').waitFor()
  expect(await settingOf(page.context(), service, 'TELEPHONY_ACCOUNT_SID')).toMatchObject({ source: 'unset' })
  await page.getByRole('button', { name: 'Finish later' }).click()
  await heading(page, 'Hello. I’m your delegate.').waitFor()
  await page.getByRole('link', { name: 'Set up a model service and the phone' }).click()
  await heading(page, 'Choose a model').waitFor()
})

test('leaves a later visit to the set-up by Back or a click, and does not return to it', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  await page.getByRole('link', { name: 'Set up a model service and the phone' }).click()
  await heading(page, 'Where are you?').waitFor()
  await page.goBack()
  await heading(page, 'Hello. I’m your delegate.').waitFor()
  expect(new URL(page.url()).pathname).toBe('/')

  await page.goto('/welcome')
  await page.getByRole('button', { name: 'Continue' }).click()
  await heading(page, 'Choose a model').waitFor()
  await page.goto('/')
  await heading(page, 'Hello. I’m your delegate.').waitFor()
})
