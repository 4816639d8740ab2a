import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { failFirstRequest, inFocus, visit } from './page.ts'

const browser = useBrowser()

test('sets a timer, describes it in words, shows others live, and asks before cancelling', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { path: '/timers', expected: /400/ })
  await page.getByRole('heading', { name: 'No reminders yet' }).waitFor()
  await page.getByRole('button', { name: 'Set a reminder' }).first().click()
  await inFocus(page.getByLabel('What for')).waitFor()
  await page.getByRole('button', { name: 'Set reminder' }).click()
  await page.getByText('Enter what it is for.').waitFor()
  await page.getByLabel('What for').fill('Water the plants')
  await page.getByText('Enter what it is for.').waitFor({ state: 'detached' })
  await page.getByLabel('When').fill('2001-01-01T09:00')
  await page.getByRole('button', { name: 'Set reminder' }).click()
  await page.getByText('It is in the past.').waitFor()
  await page.getByLabel('How often').selectOption('weekdays')
  await page.getByLabel('First time').fill('2099-05-01T09:05')
  await page.getByRole('button', { name: 'Set reminder' }).click()
  const coming = page.getByRole('list', { name: 'Coming up' }).getByRole('listitem')
  await coming.filter({ hasText: 'Every weekday at 09:05' }).waitFor()
  const { events } = (await service.client.get('/api/timeline')).json
  expect(events.at(-1)).toMatchObject({ type: 'timer.set', payload: { by: 'owner' } })
  expect(events.at(-1).payload).not.toHaveProperty('pasted')

  await service.client.post('/api/timers', { title: 'From elsewhere', recurrence: '0 8 * * *' })
  await coming.filter({ hasText: 'From elsewhere' }).waitFor()
  await page.getByRole('button', { name: 'Cancel Water the plants' }).click()
  await page.getByRole('button', { name: 'Cancel reminder' }).click()
  await page.getByRole('list', { name: 'Past' }).getByText('Water the plants').waitFor()
})

test('shows a timer that is set between loading the list and connecting', { tags: ['long'] }, async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service)
  const cut = Promise.withResolvers<void>()
  onTestFinished(() => cut.resolve())
  await page.routeWebSocket(/\/chat/, async (socket) => {
    await cut.promise
    socket.connectToServer()
  })
  await page.goto('/timers')
  await page.getByRole('heading', { name: 'No reminders yet' }).waitFor()
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

test('closes a dialog by a click beside it, not by a drag, and once it is filled in by two Escapes', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers' })
  const open = page.getByRole('button', { name: 'Set a reminder' }).first()
  await open.click()
  const dialog = page.getByRole('dialog', { name: 'Set a reminder' })
  const field = page.getByLabel('What for')
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
  await open.click()
  await field.fill('Water the plants')
  await page.mouse.click(...outside)
  expect(await field.inputValue()).toBe('Water the plants')
  await page.keyboard.press('Escape')
  const warning = page
    .getByRole('status')
    .getByText('Press Escape again to close. What is here will be lost.')
  await warning.waitFor()
  await field.press('End')
  await page.keyboard.type(' again')
  await warning.waitFor({ state: 'detached' })
  await page.getByLabel('When').fill('2026-12-31T10:00')
  await page.getByLabel('How often').selectOption('Cron expression')
  expect(await page.getByLabel('Cron expression', { exact: true }).inputValue()).toBe('')
  await page.keyboard.press('Escape')
  expect(await field.inputValue()).toBe('Water the plants again')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
})

test('offers a retry when timers cannot be loaded', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { expected: /500/ })
  const recover = await failFirstRequest(page, '**/api/timers?*')
  await page.getByRole('link', { name: 'Reminders' }).click()
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  recover()
  await page.getByRole('heading', { name: 'No reminders yet' }).waitFor()
})

const soon = () => new Date(Date.now() + 300).toISOString()

test('lists due reminders, and ticks off, snoozes, edits and cancels them', async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: '' }))
  const { client } = service
  for (const title of ['Check the oven', 'Feed the cat', 'Call Ada', 'Post the letter'])
    await client.post('/api/timers', { title, at: soon() })
  await client.post('/api/timers', { title: 'Pills', recurrence: '0 8 * * *' })
  const page = await visit(browser(), service, { path: '/timers' })
  const list = (name: string) => page.getByRole('list', { name, exact: true }).getByRole('listitem')
  const due = (title: string) => list('Due').filter({ hasText: title })
  await expect.poll(() => list('Due').count()).toBe(4)

  await due('Check the oven').getByRole('button', { name: 'Done' }).click()
  await list('Past').filter({ hasText: 'Check the oven' }).getByText('Done').waitFor()

  await due('Feed the cat').getByRole('button', { name: 'Snooze' }).click()
  await page.getByRole('menuitem', { name: '1 hour' }).click()
  await page
    .getByText(/^Snoozed until /)
    .first()
    .waitFor()
  await list('Coming up').filter({ hasText: 'Feed the cat' }).getByText('Snoozed').waitFor()
  await list('Past').filter({ hasText: 'Feed the cat' }).getByText('Snoozed, due again').waitFor()

  await due('Call Ada').getByRole('button', { name: 'Snooze' }).click()
  await page.getByRole('menuitem', { name: 'Another time…' }).click()
  await page.getByRole('button', { name: 'Snooze', exact: true }).click()
  await page.getByText('Choose a date and time.').waitFor()
  await page.getByLabel('Remind again').fill('2099-05-01T09:05')
  await page.getByRole('button', { name: 'Snooze', exact: true }).click()
  await list('Coming up').filter({ hasText: 'Call Ada' }).getByText(/2099/).waitFor()

  await page.getByRole('button', { name: 'Edit Pills' }).click()
  expect(await page.getByLabel('How often').inputValue()).toBe('daily')
  await page.getByLabel('What for').fill('Vitamins')
  await page.getByLabel('How often').selectOption('yearly')
  await page.getByLabel('Next time').fill('2099-05-02T07:30')
  await page.getByRole('button', { name: 'Save' }).click()
  await list('Coming up').filter({ hasText: 'Vitamins' }).getByText('Every year on 2 May at 07:30').waitFor()
  expect((await client.get('/api/timers?open=true')).json.timers).toHaveLength(1)
})

test('changes a title without moving the time, which has seconds', async () => {
  const { service } = await startWithModel()
  const at = '2099-05-01T09:05:17.000Z'
  const { id } = (await service.client.post('/api/timers', { title: 'Tea', at })).json
  const page = await visit(browser(), service, { path: '/timers' })
  await page.getByRole('button', { name: 'Edit Tea' }).click()
  await page.getByLabel('What for').fill('Green tea')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('list', { name: 'Coming up' }).getByText('Green tea').waitFor()
  const { timers } = (await service.client.get('/api/timers')).json
  expect(timers).toMatchObject([{ id, title: 'Green tea', dueAt: at, recurrence: null }])
})

test('ticks off all due reminders at once', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: '' }))
  for (const title of ['Tea', 'Cake']) await service.client.post('/api/timers', { title, at: soon() })
  const page = await visit(browser(), service, { path: '/timers' })
  await page.getByRole('button', { name: 'All done' }).click()
  await page.getByRole('button', { name: 'Tick off all' }).click()
  await page.getByRole('list', { name: 'Due' }).waitFor({ state: 'detached' })
  expect((await service.client.get('/api/timers?open=true')).json.timers).toEqual([])
})

test('makes a private calendar address, shows it once, replaces it and switches it off', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { path: '/timers' })
  const section = page.getByRole('list', { name: 'Calendar' })
  await section.getByRole('button', { name: 'Make an address' }).click()
  const shown = section.getByText(/\/calendar\/[\w-]{43}\.ics$/)
  const first = new URL((await shown.textContent())?.trim() ?? '')
  const status = async (url: URL) => (await fetch(url)).status
  expect(await status(first)).toBe(200)
  await section.getByRole('button', { name: 'Copy' }).waitFor()
  await page.reload()
  await section.getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('button', { name: 'Replace it' }).click()
  const second = new URL((await shown.textContent())?.trim() ?? '')
  expect([await status(first), await status(second)]).toEqual([404, 200])
  await section.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('button', { name: 'Switch it off' }).click()
  await section.getByRole('button', { name: 'Make an address' }).waitFor()
  expect(await status(second)).toBe(404)
  const download = page.waitForEvent('download')
  await section.getByRole('link', { name: 'Download' }).click()
  expect((await download).suggestedFilename()).toBe('reminders.ics')
})

test('says which reminders were late or missed because Delegate was off', async () => {
  let aheadMs = 0
  const { service, model } = await startWithModel({ nowMs: () => Date.now() + aheadMs })
  model.answerWith(() => ({ text: '' }))
  const { client } = service
  const at = new Date(Date.now() + 60_000).toISOString()
  await client.post('/api/timers', { title: 'Feed the cat', at })
  await client.post('/api/timers', { title: 'Put the bins out', at, missedPolicy: 'skip' })
  // Asleep for an hour, until something wakes it.
  aheadMs = 3_600_000
  await client.post('/api/timers', { title: 'Tea', at: '2099-05-01T09:00' })
  const page = await visit(browser(), service, { path: '/timers' })
  const due = (title: string) =>
    page.getByRole('list', { name: 'Due' }).getByRole('listitem').filter({ hasText: title })
  await due('Feed the cat').getByText('Shown late: Delegate was off').waitFor()
  await due('Put the bins out').getByText('Missed while Delegate was off').waitFor()
})

test('repeats a reminder every other week, counted from the day that the owner chooses', async () => {
  const { service } = await startWithModel()
  await service.client.post('/api/timers', {
    title: 'Recycling',
    at: '2099-01-08T09:00',
    recurrence: '0 9 * * 4%2',
  })
  const page = await visit(browser(), service, { path: '/timers' })
  const coming = page.getByRole('list', { name: 'Coming up' }).getByRole('listitem')
  await coming.filter({ hasText: 'Every 2 weeks on Thursday at 09:00' }).waitFor()
  const saved = async (field: string, value: string) => {
    await page.getByRole('button', { name: 'Edit Recycling' }).click()
    expect(await page.getByLabel('How often').inputValue()).toBe('fortnightly')
    await page.getByLabel(field).fill(value)
    const answer = page.waitForResponse((each) => each.request().method() === 'PUT')
    await page.getByRole('button', { name: 'Save' }).click()
    return (await answer).json()
  }
  const before = (await service.client.get('/api/timers')).json.timers[0]
  expect(await saved('What for', 'Recycling out')).toEqual({ ...before, title: 'Recycling out' })
  const { recurrence, dueAt } = await saved('Next time', '2099-01-15T09:00')
  expect([before.recurrence, recurrence]).toEqual(['0 9 * * 4%2+0', '0 9 * * 4%2+1'])
  expect(dueAt).toBe('2099-01-15T09:00:00.000Z')
})

test('repeats a reminder until a last day, which the owner can change and take away', async () => {
  const { service } = await startWithModel()
  const page = await visit(browser(), service, { path: '/timers' })
  await page.getByRole('button', { name: 'Set a reminder' }).first().click()
  await page.getByLabel('What for').fill('Take the antibiotics')
  expect(await page.getByLabel('Last day').count()).toBe(0)
  await page.getByLabel('How often').selectOption('daily')
  await page.getByLabel('First time').fill('2099-01-08T08:00')
  await page.getByLabel('Last day').fill('2099-01-07')
  await page.getByRole('button', { name: 'Set reminder' }).click()
  await page.getByText('Choose the same day or a later one.').waitFor()
  await page.getByLabel('Last day').fill('2099-01-12')
  await page.getByRole('button', { name: 'Set reminder' }).click()
  const coming = page.getByRole('list', { name: 'Coming up' }).getByRole('listitem')
  await coming.filter({ hasText: 'Every day at 08:00, until 12 January 2099' }).waitFor()
  const saved = async (lastDay: string) => {
    await page.getByRole('button', { name: 'Edit Take the antibiotics' }).click()
    await page.getByLabel('Last day').fill(lastDay)
    await page.getByRole('button', { name: 'Save' }).click()
  }
  await saved('2099-01-15')
  await coming.filter({ hasText: 'until 15 January 2099' }).waitFor()
  await saved('')
  await coming.filter({ hasText: /Every day at 08:00(?!, until)/ }).waitFor()
  const [timer] = (await service.client.get('/api/timers')).json.timers
  expect(timer).toMatchObject({ recurrence: '0 8 * * *', dueAt: '2099-01-08T08:00:00.000Z' })
})
