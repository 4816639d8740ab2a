import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { pagePaths } from './app-source.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { startHouse } from './house.ts'
import { checkLooks } from './looks.ts'
import { phone, settled, visit } from './page.ts'

const browser = useBrowser()
const german = { locale: 'de-DE' }

const languageOf = (page: Awaited<ReturnType<typeof visit>>) =>
  page.evaluate(() => document.documentElement.lang)

test('is in the language of the browser, until the owner chooses one for all', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { context: german, path: '/settings' })
  await page.getByRole('heading', { level: 1, name: 'Einstellungen' }).waitFor()
  expect(await languageOf(page)).toBe('de')
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.accept()
  })
  await page.getByRole('combobox', { name: 'Sprache' }).selectOption({ label: 'English' })
  await page.getByRole('button', { name: 'Speichern' }).click()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  expect(await languageOf(page)).toBe('en')
  expect(asked).toEqual([])

  const login = await visit(browser(), service, { context: german, path: '/login', signedIn: false })
  await login.getByRole('heading', { name: 'Welcome back' }).waitFor()
})

test('takes a decimal comma where the language writes one', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { context: german, path: '/memory-config' })
  await page.getByLabel('Mindestrelevanz').fill('0,4')
  expect(await page.getByLabel('Mindestrelevanz').inputValue()).toBe('0,4')
  expect(await page.getByRole('slider').inputValue()).toBe('0.4')
  await page.getByLabel('Schwelle für Doppeltes').fill('0,75')
  await page.getByRole('button', { name: 'Speichern' }).click()
  await expect
    .poll(async () => (await service.client.get('/memory-config')).json)
    .toMatchObject({ relevanceThreshold: 0.4, duplicateThreshold: 0.75 })
  await page.goto('/settings')
  const allowance = page.getByLabel('Ausgabenlimit für 24 Stunden', { exact: true })
  await allowance.fill('12,5')
  await page.getByRole('button', { name: 'Speichern' }).click()
  await expect.poll(() => allowance.inputValue()).toBe('12.5')
})

test('is in the language of the owner in a browser of another language', { tags: ['long'] }, async () => {
  const service = await startWholeService({ environment: { DELEGATE_LANGUAGE: 'de' } })
  const login = await visit(browser(), service, { signedIn: false, path: '/login' })
  await login.getByRole('heading', { name: 'Willkommen zurück' }).waitFor()
  const page = await visit(browser(), service)
  await page.getByRole('textbox', { name: 'Nachricht' }).waitFor()
  const manifest = await page.locator('link[rel=manifest]').getAttribute('href')
  expect(await (await page.request.get(manifest ?? '')).text()).toContain('Dein persönlicher Assistent')
})

test('opens offline in the language of its last page', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, {
    context: german,
    worker: true,
    expected: /ERR_INTERNET_DISCONNECTED|ERR_FAILED|WebSocket connection/,
  })
  await page.evaluate(() => navigator.serviceWorker.ready)
  // The worker sees the pages from the next one on.
  await page.reload()
  await page.getByRole('textbox', { name: 'Nachricht' }).waitFor()
  await page.context().setOffline(true)
  await page.reload()
  await page.getByRole('heading', { name: 'Der Dienst ist nicht erreichbar' }).waitFor()
})

test('keeps the bar of the timeline in one row on a phone without a connection', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, {
    context: { ...german, viewport: phone },
    expected: /WebSocket|ERR_CONNECTION|Failed to load/,
  })
  const bar = page.getByRole('banner').filter({ hasText: 'Zeitleiste' })
  await page.getByRole('heading', { name: 'Hallo. Ich bin dein Delegate.' }).waitFor()
  const before = await bar.boundingBox()
  await service.stop()
  await bar.getByRole('button', { name: 'Jetzt versuchen' }).waitFor()
  expect(await bar.boundingBox()).toEqual(before)
})

test('has names in German that contain what is seen', { tags: ['long'] }, async () => {
  const { service } = await startHouse()
  // One imported conversation needs an id.
  const page = await visit(browser(), service, { context: german, expected: /status of 404/ })
  for (const path of pagePaths().filter((path) => !['/install', '/welcome', '/login'].includes(path))) {
    await page.goto(path)
    await settled(page)
    expect.soft([path, await findings(page)]).toEqual([path, []])
  }
})

test('shows its pages in German', { tags: ['long'] }, async () => {
  const { service, noteId } = await startHouse()
  const page = await visit(browser(), service, { context: german })
  await page.getByRole('textbox', { name: 'Nachricht' }).waitFor()
  for (const [path, name] of [
    ['/', 'german-timeline'],
    ['/memories', 'german-memories'],
    ['/timers', 'german-reminders'],
    ['/tasks', 'german-tasks'],
    ['/operations', 'german-operations'],
    ['/settings#owner', 'german-settings'],
    [`/notes/${noteId}`, 'german-note'],
  ] as const) {
    await page.goto(path)
    await settled(page)
    await checkLooks(page, name)
  }
  await page.goto('/operations')
  await page.getByText('in den letzten 24 Stunden').waitFor()
  await page.getByText('pro Stunde').first().waitFor()
})
