import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { createClient } from '../http/client.ts'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { inFocus, phone, visit } from './page.ts'
import { picture } from './picture.ts'

const browser = useBrowser()

const row = (page: Page, key: string) => page.locator('.setting', { has: page.locator(`#${key}`) })
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true })

test('applies a changed setting to the next reply, and resets it to the environment', async () => {
  const { service, model } = await startWithModel({
    models: ['test-model', 'another-model'],
    environment: { REALTIME_VOICE: 'cedar' },
  })
  model.answerWith(() => ({ text: 'Yes.' }))
  const page = await visit(browser(), service, { path: '/settings' })
  await page.getByLabel('Voice', { exact: true }).fill('alloy')
  await page.getByText('1 change not saved').waitFor()
  await save(page).click()
  await row(page, 'REALTIME_VOICE').getByText('Set here').waitFor()
  const chat = page.getByRole('row', { name: /^Chat/ })
  await chat.getByRole('button', { name: 'Change' }).click()
  await page.getByRole('radio', { name: 'another-model' }).check()
  await page.locator('dg-choose-model-dialog').getByRole('button', { name: 'Save' }).click()
  await chat.getByText('Set here').waitFor()
  await service.client.post('/api/chat', { content: 'Who answers?' })
  expect(turnRequests(model).at(-1)?.body).toMatchObject({ model: 'another-model' })

  await page.getByRole('button', { name: 'Reset Voice' }).click()
  await row(page, 'REALTIME_VOICE').getByText('From the environment').waitFor()
  await expect.poll(() => page.getByLabel('Voice', { exact: true }).inputValue()).toBe('cedar')
  await page.getByLabel('Voice', { exact: true }).and(page.locator(':focus')).waitFor()
  await page.getByRole('button', { name: 'Reset Chat' }).click()
  await chat.getByText('From the environment').waitFor()
  await chat.getByText('test-model').waitFor()
  await inFocus(chat.getByRole('button', { name: 'Change' })).waitFor()
  await service.client.post('/api/chat', { content: 'And now?' })
  expect(turnRequests(model).at(-1)?.body).toMatchObject({ model: 'test-model' })
})

test('explains an error at its field, saves nothing, and keeps the draft across pages', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { path: '/settings', expected: /status of 400/ })
  await page.getByLabel('Concurrent tasks', { exact: true }).fill('5')
  await page.getByLabel('Time zone', { exact: true }).fill('Nowhere/Atlantis')
  await save(page).click()
  await row(page, 'TIMEZONE')
    .getByText(/^It must be an IANA time zone/)
    .waitFor()
  await page.locator('#TIMEZONE[aria-invalid=true]:focus').waitFor()
  await page.getByRole('link', { name: 'Reminders' }).click()
  await page.getByRole('heading', { name: 'No reminders yet' }).waitFor()
  await page.getByRole('link', { name: 'Settings' }).click()
  await expect.poll(() => page.getByLabel('Concurrent tasks', { exact: true }).inputValue()).toBe('5')
  const { json } = await service.client.get('/api/config')
  const entry = json.entries.find(({ key }: { key: string }) => key === 'TASK_LIMIT')
  expect(entry).toMatchObject({ value: 2, source: 'default' })
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect.poll(() => page.getByLabel('Concurrent tasks', { exact: true }).inputValue()).toBe('2')
  await page.getByText('not saved').waitFor({ state: 'detached' })
})

test('shows and saves settings although what else the page tells cannot be read', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, {
    expected: /status of 500/,
    path: '/timers',
  })
  for (const path of ['/build-info.json', '/api/outbound', '/api/proxies'])
    await page.route(`**${path}`, (route) => route.fulfill({ status: 500, body: '{}' }))
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('Concurrent tasks', { exact: true }).fill('5')
  await save(page).click()
  await row(page, 'TASK_LIMIT').getByText('Set here').waitFor()
  await page.getByRole('heading', { name: 'About' }).waitFor()
})

test('returns the focus to the last changed field after a save or discard by keyboard', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/settings' })
  const minutes = page.locator('#SESSION_IDLE_MINUTES')
  for (const name of ['Save', 'Discard']) {
    await minutes.fill(name === 'Save' ? '45' : '50')
    const button = page.getByRole('button', { name, exact: true })
    await button.focus()
    await page.keyboard.press('Enter')
    await button.waitFor({ state: 'detached' })
    await inFocus(minutes).waitFor()
  }
  await expect.poll(() => minutes.inputValue()).toBe('45')
})

test('keeps what is typed during a save as an unsaved change', { tags: ['long'] }, async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { path: '/settings' })
  const requested = Promise.withResolvers<void>()
  const proceed = Promise.withResolvers<void>()
  await page.route('**/api/config', async (route) => {
    if (route.request().method() === 'PUT') {
      requested.resolve()
      await proceed.promise
    }
    await route.fallback()
  })
  await page.getByLabel('Concurrent tasks', { exact: true }).fill('5')
  await page.getByLabel('Voice', { exact: true }).fill('alloy')
  await save(page).click()
  await requested.promise
  await page.getByLabel('Concurrent tasks', { exact: true }).fill('6')
  await page.getByLabel('Account SID', { exact: true }).fill('AC-late')
  proceed.resolve()
  await row(page, 'REALTIME_VOICE').getByText('Set here').waitFor()
  await page.getByText('2 changes not saved').waitFor()
  expect(await page.getByLabel('Concurrent tasks', { exact: true }).inputValue()).toBe('6')
  expect(await page.getByLabel('Account SID', { exact: true }).inputValue()).toBe('AC-late')
  await save(page).click()
  await row(page, 'TELEPHONY_ACCOUNT_SID').getByText('Set here').waitFor()
  await page.getByText('not saved').waitFor({ state: 'detached' })
  const { json } = await service.client.get('/api/config')
  const entry = json.entries.find(({ key }: { key: string }) => key === 'TASK_LIMIT')
  expect(entry).toMatchObject({ value: 6, source: 'stored' })
})

test('never shows a stored secret, and removes a setting that is emptied', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { path: '/settings' })
  const seen: string[] = []
  page.on(
    'response',
    (response) =>
      void response.text().then(
        (text) => seen.push(text),
        () => undefined,
      ),
  )
  await page.getByLabel('Auth token', { exact: true }).fill('canary-auth-token')
  await page.getByLabel('Account SID', { exact: true }).fill('AC-first')
  await save(page).click()
  await row(page, 'TELEPHONY_AUTH_TOKEN').getByText('Set here').waitFor()
  const token = page.getByLabel('Auth token', { exact: true })
  await expect.poll(() => token.inputValue()).toBe('')
  await expect.poll(() => token.getAttribute('placeholder')).toContain('replace')
  await page.reload()
  await page.getByLabel('Account SID', { exact: true }).fill('')
  await save(page).click()
  await row(page, 'TELEPHONY_ACCOUNT_SID').getByText('Not set').waitFor()
  await page.getByRole('button', { name: 'Remove Auth token' }).click()
  await row(page, 'TELEPHONY_AUTH_TOKEN').getByText('Not set').waitFor()
  expect([await page.content(), ...seen].join('')).not.toContain('canary-auth-token')
})

test('shows the result of each step of the connection tests', { tags: ['long'] }, async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { path: '/settings' })
  const section = (name: string) => page.getByRole('region', { name })
  await section('Model service')
    .getByRole('button', { name: /^Test / })
    .click()
  await section('Model service')
    .getByRole('list', { name: /^Test/ })
    .getByText('Reachable', { exact: true })
    .waitFor()
  await section('Telephony').getByRole('button', { name: 'Test the connection' }).click()
  await section('Telephony').getByRole('list', { name: 'Test failed' }).waitFor()
  await page.getByLabel('Account SID', { exact: true }).fill('unsaved')
  await section('Telephony').getByText('your changes are not saved yet').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
})

test('signs out all other devices at once', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { path: '/settings', slowTimers: true })
  const list = page.getByRole('list', { name: 'Signed in' })
  await list.getByText('This device').waitFor()
  const everywhere = page.getByRole('button', { name: 'Sign out all other devices' })
  expect(await everywhere.count()).toBe(0)
  const others = [createClient(service.port), createClient(service.port)]
  for (const other of others) await other.post('/login', { password: PASSWORD })
  await page.reload()
  await everywhere.scrollIntoViewIfNeeded()
  await checkLooks(page, 'sessions', everywhere)
  await everywhere.click()
  await page.getByRole('dialog', { name: 'Sign out all other devices?' }).waitFor()
  await checkLooks(page, 'sign-out-others')
  await page.locator('dg-confirm-dialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('All other devices are signed out.').waitFor()
  await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
  for (const other of others) expect((await other.get('/api/config')).status).toBe(401)
  expect(await everywhere.count()).toBe(0)
})

test('signs out another device and changes the password', async () => {
  const { service } = await startWithModel()
  const other = createClient(service.port)
  await other.post(
    '/login',
    { password: PASSWORD },
    {
      headers: {
        'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1',
      },
    },
  )
  const third = createClient(service.port)
  await third.post('/login', { password: PASSWORD })
  const page = await visit(browser(), service, {
    path: '/settings',
    expected: /status of 401/,
    slowTimers: true,
  })
  const list = page.getByRole('list', { name: 'Signed in' })
  await list.getByText('Safari on iPhone').waitFor()
  await expect.poll(() => list.getByRole('listitem').count()).toBe(3)
  await page.getByRole('button', { name: 'Sign out Safari on iPhone' }).click()
  await page.locator('dg-confirm-dialog').getByRole('button', { name: 'Sign out' }).click()
  await expect.poll(() => list.getByRole('listitem').count()).toBe(2)
  expect((await other.get('/api/config')).status).toBe(401)

  const form = page.locator('dg-password-form')
  await form.getByRole('button', { name: 'Change password' }).click()
  await form.getByText('Enter your current password.').waitFor()
  await page.getByLabel('Current password', { exact: true }).fill('not the password')
  await page.getByLabel('New password', { exact: true }).fill('another walk by the river')
  await page.keyboard.press('Enter')
  await form.getByText('That is not your password.').waitFor()
  await page.getByLabel('Current password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByText('Password changed').waitFor()
  expect((await third.get('/api/config')).status).toBe(401)
  await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
  expect(
    (await createClient(service.port).post('/login', { password: 'another walk by the river' })).status,
  ).toBe(200)
})

test('shows what another tab saves without losing unsaved input', { tags: ['long'] }, async () => {
  const { service } = await startWithModel()
  const here = await visit(browser(), service, { path: '/settings' })
  const there = await visit(browser(), service, { path: '/settings' })
  await here.getByLabel('Account SID', { exact: true }).fill('AC-being-typed')
  await here.getByLabel('Concurrent tasks', { exact: true }).fill('4')
  await here.getByText('2 changes not saved').waitFor()

  await there.getByLabel('Voice', { exact: true }).fill('voice-of-there')
  await there.getByLabel('Concurrent tasks', { exact: true }).fill('4')
  await save(there).click()
  await row(here, 'REALTIME_VOICE').getByText('Set here').waitFor()
  expect(await here.getByLabel('Voice', { exact: true }).inputValue()).toBe('voice-of-there')
  expect(await here.getByLabel('Account SID', { exact: true }).inputValue()).toBe('AC-being-typed')
  // A value that both tabs entered is already saved.
  await here.getByText('1 change not saved').waitFor()
  await save(here).click()
  await row(here, 'TELEPHONY_ACCOUNT_SID').getByText('Set here').waitFor()
  expect(await here.getByLabel('Voice', { exact: true }).inputValue()).toBe('voice-of-there')
})

test('shows an undeclared proxy under Network', async () => {
  const service = await startWholeService()
  await service.client.get('/health', { headers: { 'x-forwarded-for': '203.0.113.9' }, from: '127.0.0.5' })
  const page = await visit(browser(), service, { path: '/settings' })
  await page.locator('#service').getByText('Requests with forwarding headers came from 127.0.0.5').waitFor()
})

test('asks for the password before it saves a key for another address, and rejects a wrong one', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService({ environment: { TELEPHONY_AUTH_TOKEN: 'token-of-the-provider' } })
  const page = await visit(browser(), service, { path: '/settings', expected: /status of 403/ })
  const address = 'http://127.0.0.1:9'
  await page.getByLabel('API address', { exact: true }).fill(address)
  await save(page).click()
  const host = new URL(address).host
  await row(page, 'TELEPHONY_AUTH_TOKEN')
    .getByText(`Entered for api.twilio.com, so it is not sent to ${host}`)
    .waitFor()
  await picture(page, 'key-for-another-address', 'desk')

  await page.getByLabel('Auth token', { exact: true }).fill('token-of-the-double')
  await save(page).click()
  const dialog = page.locator('dg-password-dialog')
  await dialog.getByText('https://api.twilio.com').waitFor()
  await dialog.getByRole('textbox').fill('not the password')
  await page.keyboard.press('Enter')
  await dialog.getByText('That is not your password.').waitFor()
  await inFocus(dialog.getByRole('textbox')).waitFor()
  await picture(page, 'password-wrong', 'desk')
  await dialog.getByRole('textbox').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await row(page, 'TELEPHONY_AUTH_TOKEN').getByText('Set here').waitFor()
  await row(page, 'TELEPHONY_AUTH_TOKEN').getByText('Entered for').waitFor({ state: 'detached' })
  await page.getByText('not saved').waitFor({ state: 'detached' })
})

test('asks for the key again when a model service gets another address', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel({ environment: { OPENAI_BASE_URL: '' } })
  const page = await visit(browser(), service, { path: '/settings', expected: /status of 400/ })
  await page.getByRole('button', { name: 'Change OpenAI' }).click()
  const dialog = page.locator('dg-service-dialog')
  await dialog.locator('summary', { hasText: 'Address' }).click()
  await dialog.getByLabel('Address').fill(model.url)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('a key is never sent to another address').waitFor()
  await inFocus(dialog.getByLabel('API key')).waitFor()
  await dialog.getByLabel('API key').fill('key-of-the-double')
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Services' }).getByText(model.url).waitFor()
  model.answerWith(() => ({ text: 'Yes.' }))
  await service.client.post('/api/chat', { content: 'Who answers?' })
  expect(turnRequests(model).at(-1)?.headers.authorization).toBe('Bearer key-of-the-double')
})

test('shows the rights of each way in as one table, and saves them with the PIN', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/settings#rights', expected: /status of 400/ })
  const table = page.getByRole('table', { name: 'What each way in may do' })
  const right = (name: string) => table.getByLabel(name, { exact: true })
  const names = table.getByRole('rowheader')
  await expect.poll(() => names.count()).toBe(5)
  await table.getByText('Also makes notes').first().waitFor()
  await right('Texts').selectOption('read')
  await right('Calls with the PIN').selectOption('everything')
  await table.getByText('Also forgets, texts others and runs tasks').waitFor()
  await page.getByLabel('PIN for calls').fill('1234')
  await save(page).click()
  await row(page, 'PHONE_PIN').getByText('digits in a row').waitFor()
  await page.getByLabel('PIN for calls').fill('480213')
  await save(page).click()
  await page.getByText('not saved').waitFor({ state: 'detached' })
  await row(page, 'PHONE_PIN').getByText('Set here').waitFor()
  const { entries } = (await service.client.get('/api/config')).json
  const value = (key: string) => entries.find((entry: { key: string }) => entry.key === key)
  expect(value('RIGHTS_TEXTS')).toMatchObject({ value: 'read', source: 'stored' })
  expect(value('RIGHTS_CALLS_PIN')).toMatchObject({ value: 'everything' })
  expect(value('PHONE_PIN')).toMatchObject({ value: null, set: true })
  await checkLooks(page, 'rights', table)
  await page.getByRole('button', { name: 'Reset Texts' }).click()
  await expect.poll(() => right('Texts').inputValue()).toBe('note')
})

test('chooses by name who listens and speaks in calls', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/settings#telephony' })
  const carriage = page.getByLabel('Who listens and speaks in calls', { exact: true })
  await carriage.selectOption('The telephony provider')
  await checkLooks(page, 'carriage', carriage)
  await save(page).click()
  await row(page, 'PHONE_CARRIAGE').getByText('Set here').waitFor()
  const { entries } = (await service.client.get('/api/config')).json
  const stored = entries.find(({ key }: { key: string }) => key === 'PHONE_CARRIAGE')
  expect(stored).toMatchObject({ value: 'relay', source: 'stored' })
})

test('shows a refused field and its error above the bar that saves', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, {
    path: '/settings',
    expected: /400|422/,
    context: { viewport: phone },
  })
  const field = page.getByLabel('Time zone')
  await field.fill('London')
  await field.press('Enter')
  const edgesOf = async (selector: string) => {
    const box = await page.locator(selector).boundingBox()
    return { top: box?.y ?? 0, bottom: (box?.y ?? 0) + (box?.height ?? 0) }
  }
  await page.locator('.field-error').waitFor()
  await expect
    .poll(async () => (await edgesOf('.save-bar')).top - (await edgesOf('.field-error')).bottom)
    .toBeGreaterThanOrEqual(0)
})
