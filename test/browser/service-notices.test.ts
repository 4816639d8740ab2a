import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createIds } from '../../ledger/ids.ts'
import { markImported } from '../../ledger/imported.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { composer, phone, visit } from './page.ts'

const browser = useBrowser()

test('shows on every page that work is on hold after a restore, until the owner releases it', {
  tags: ['long'],
}, async () => {
  const directory = testDirectory()
  const first = await startWholeService({ directory })
  await first.stop()
  const ledger = openLedger(directory, createIds(Date.now))
  const { seq, hash } = ledger.head()
  markImported(ledger, { source: 'restore', headSeq: seq, headHash: hash })
  ledger.close()

  const service = await startWholeService({ directory })
  const page = await visit(browser(), service, { context: { viewport: phone } })
  const notice = page.getByText('Outgoing texts, calls and deliveries are on hold')
  await notice.waitFor()
  expect(await findings(page)).toEqual([])
  // The notice does not push the composer out of view.
  await composer(page).waitFor()
  const box = await composer(page).boundingBox()
  expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(phone.height)
  await page.goto('/notes')
  await notice.waitFor()

  const other = await visit(browser(), service, { path: '/settings' })
  await other.getByRole('button', { name: 'Release outgoing work' }).waitFor()
  await page.getByRole('button', { name: 'Release outgoing work' }).click()
  await page.getByRole('dialog', { name: 'Release outgoing work?' }).waitFor()
  await page.getByText('may repeat texts and webhooks that were already sent').waitFor()
  expect(await findings(page)).toEqual([])
  await page.locator('dg-confirm-dialog').getByRole('button', { name: 'Release' }).click()
  // The button also disappears from the other open page.
  for (const tab of [page, other]) {
    await tab.getByRole('button', { name: 'Release outgoing work' }).waitFor({ state: 'detached' })
  }
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('link', { name: 'Reminders' }).click()
  await page.getByRole('heading', { name: 'Reminders', exact: true }).waitFor()
  await notice.waitFor({ state: 'detached' })
})

test('checks the service when its tab is shown, not when it is hidden', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers', slowTimers: true })
  await page.getByRole('heading', { name: 'No reminders yet' }).waitFor()
  await page.waitForLoadState('networkidle')
  let checks = 0
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/ready') checks += 1
  })
  const checked = page.waitForResponse('**/api/outbound')
  await page.evaluate(() => {
    for (const hidden of [true, false]) {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }
  })
  await checked
  expect(checks).toBe(1)
})

test('names a stalled view on every page', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const views = new Database(join(service.directory, 'views.sqlite'))
  views.exec(`CREATE TRIGGER no_more BEFORE INSERT ON notes BEGIN SELECT RAISE(ABORT, 'no more notes'); END`)
  views.close()
  // The page may first check the service after the view has stalled, hence the 503.
  const timers = await visit(browser(), service, { path: '/timers', expected: /503/ })
  await timers.getByRole('heading', { name: 'Reminders', exact: true }).waitFor()
  await service.client.post('/api/notes', { title: 'Lost from view', content: 'But kept' })
  expect((await service.client.get('/ready')).status).toBe(503)

  const page = await visit(browser(), service, { expected: /503/ })
  await page.getByText(/Some pages are out of date \(stalled: notes\)/).waitFor()
  expect(await findings(page)).toEqual([])
})
