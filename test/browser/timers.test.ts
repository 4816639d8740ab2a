import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { failFirstRequest, visit } from './page.ts'

const browser = useBrowser()

test('sets a timer, describes it in words, shows others live, and asks before cancelling', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { path: '/timers', expected: /400/ })
  await page.getByRole('heading', { name: 'No timers yet' }).waitFor()
  await page.getByRole('button', { name: 'Set a timer' }).first().click()
  await page.getByRole('button', { name: 'Set timer' }).click()
  await page.getByText('Enter what it is for.').waitFor()
  await page.getByLabel('What for').fill('Water the plants')
  await page.getByText('Enter what it is for.').waitFor({ state: 'detached' })
  await page.getByLabel('When').fill('2001-01-01T09:00')
  await page.getByRole('button', { name: 'Set timer' }).click()
  await page.getByText('It is in the past.').waitFor()
  await page.getByLabel('How often').selectOption('weekdays')
  await page.getByLabel('First time').fill('2099-05-01T09:05')
  await page.getByRole('button', { name: 'Set timer' }).click()
  const coming = page.getByRole('list', { name: 'Coming up' }).getByRole('listitem')
  await coming.filter({ hasText: 'Every weekday at 09:05' }).waitFor()
  const { events } = (await service.client.get('/api/timeline')).json
  expect(events.at(-1)).toMatchObject({ type: 'timer.set', payload: { by: 'owner' } })
  expect(events.at(-1).payload).not.toHaveProperty('pasted')

  await service.client.post('/api/timers', { title: 'From elsewhere', recurrence: '0 8 * * *' })
  await coming.filter({ hasText: 'From elsewhere' }).waitFor()
  await page.getByRole('button', { name: 'Cancel Water the plants' }).click()
  await page.getByRole('button', { name: 'Cancel timer' }).click()
  await page.getByRole('list', { name: 'Past' }).getByText('Water the plants').waitFor()
})

test('shows a timer that is set between loading the list and connecting', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service)
  const cut = Promise.withResolvers<void>()
  onTestFinished(() => cut.resolve())
  await page.routeWebSocket(/\/chat/, async (socket) => {
    await cut.promise
    socket.connectToServer()
  })
  await page.goto('/timers')
  await page.getByRole('heading', { name: 'No timers yet' }).waitFor()
  await service.client.post('/api/timers', { title: 'From elsewhere', recurrence: '0 8 * * *' })
  cut.resolve()
  await page.getByRole('list', { name: 'Coming up' }).getByText('From elsewhere').waitFor()
})

type Point = readonly [x: number, y: number]

async function drag(page: Page, start: Point, end: Point): Promise<void> {
  await page.mouse.move(...start)
  await page.mouse.down()
  await page.mouse.move(...end)
  await page.mouse.up()
}

test('closes a dialog by a click beside it, but not by dragging out of it or into it', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers' })
  await page.getByRole('button', { name: 'Set a timer' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Set a timer' })
  const field = page.getByLabel('What for')
  await field.fill('Water the plants')
  const box = await field.boundingBox()
  if (!box) throw new Error('the field is not shown')
  const inside: Point = [box.x + 20, box.y + box.height / 2]
  const outside: Point = [5, 400]
  await drag(page, inside, outside)
  expect(await dialog.isVisible()).toBe(true)
  await drag(page, outside, inside)
  expect(await dialog.isVisible()).toBe(true)
  await page.mouse.click(...outside)
  await dialog.waitFor({ state: 'hidden' })
})

test('offers a retry when timers cannot be loaded', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { expected: /500/ })
  const recover = await failFirstRequest(page, '**/api/timers?*')
  await page.getByRole('link', { name: 'Timers' }).click()
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  recover()
  await page.getByRole('heading', { name: 'No timers yet' }).waitFor()
})
