import { expect, test } from 'vitest'
import { httpFaults } from '../doubles/model/script.ts'
import type { WholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { composer, inFocus, phone, visit } from './page.ts'

const browser = useBrowser()

const soon = () => new Date(Date.now() + 1500).toISOString()

async function remind(service: WholeService, title: string): Promise<string> {
  const answer = await service.client.post('/api/timers', { title, at: soon() })
  return String(answer.json.id)
}

test('shows a reminder on every page, leads to its row, and marks it as seen in every tab', async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: '' }))
  const logs = await visit(browser(), service, { path: '/logs' })
  await logs.getByRole('heading', { name: 'Logs' }).waitFor()
  const notes = await logs.context().newPage()
  await notes.goto('/notes')
  await notes.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await remind(service, 'Check the oven')
  for (const page of [logs, notes]) {
    await page.getByText(/^(Reminder: Check the oven|A reminder is due)$/).waitFor()
  }
  await expect.poll(() => logs.title()).toBe('(1) Logs · Delegate')
  await expect.poll(() => notes.title()).toBe('(1) Notes · Delegate')

  await notes.getByRole('button', { name: 'Show' }).click()
  const row = notes.locator('.notice.reminder')
  await inFocus(row).waitFor()
  // No activity appears between setting the timer and the reminder.
  const before = row.locator('xpath=../preceding-sibling::*[1]')
  expect(await before.textContent()).toContain('Reminder set: Check the oven')
  await expect.poll(() => notes.title()).toBe('Timeline · Delegate')
  await expect.poll(() => logs.title()).toBe('Logs · Delegate')
  await row.getByRole('link').click()
  await inFocus(notes.getByRole('listitem').filter({ hasText: 'Check the oven' })).waitFor()
})

test('marks a reminder as seen once the owner types on the timeline', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: '' }))
  const page = await visit(browser(), service)
  await page.getByRole('heading', { name: 'I’m your delegate' }).waitFor()
  await remind(service, 'Check the oven')
  await expect.poll(() => page.title()).toBe('(1) Timeline · Delegate')
  await composer(page).fill('What')
  await composer(page).press('?')
  await expect.poll(() => page.title()).toBe('Timeline · Delegate')
  await page.getByRole('button', { name: 'Show' }).waitFor({ state: 'detached' })
})

test('ticks off and snoozes reminders on the timeline, and shows what became of them', async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: '' }))
  const page = await visit(browser(), service, { context: { viewport: phone } })
  await page.getByRole('heading', { name: 'I’m your delegate' }).waitFor()
  const row = (title: string) => page.locator('.notice.reminder').filter({ hasText: title })
  const settled = (title: string) => row(title).locator('.state')
  await remind(service, 'Check the oven')
  await row('Check the oven').getByRole('button', { name: 'Done' }).waitFor()
  const toast = await page.locator('.toast').boundingBox()
  const due = await row('Check the oven').boundingBox()
  if (!toast || !due) throw new Error('the toast or the reminder is not shown')
  expect(toast.y + toast.height).toBeLessThanOrEqual(due.y)
  await row('Check the oven').getByRole('button', { name: 'Done' }).click()
  await settled('Check the oven')
    .filter({ hasText: /^Done$/ })
    .waitFor()
  expect(await row('Check the oven').getByRole('button').count()).toBe(0)

  await remind(service, 'Feed the cat')
  await row('Feed the cat').getByRole('button', { name: 'Snooze' }).click()
  await page.getByRole('menuitem', { name: 'Tomorrow morning' }).click()
  await row('Feed the cat')
    .getByText(/^Snoozed until .* 09:00$/)
    .waitFor()
  await page
    .locator('.notice')
    .filter({ hasText: /Snoozed until .*: Feed the cat/ })
    .waitFor()

  // Settled on another page or device.
  const id = await remind(service, 'Call Ada')
  await row('Call Ada').getByRole('button', { name: 'Done' }).waitFor()
  await service.client.post(`/api/timers/${id}/done`, {})
  await settled('Call Ada')
    .filter({ hasText: /^Done$/ })
    .waitFor()
})

test('ticks off and snoozes a reminder from its toast on any page, by keyboard', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: '' }))
  const page = await visit(browser(), service, { path: '/logs' })
  await page.getByRole('heading', { name: 'Logs' }).waitFor()
  const toast = page.locator('.toast')
  const id = await remind(service, 'Check the oven')
  await toast.filter({ hasText: 'Check the oven' }).getByRole('button', { name: 'Done' }).press('Enter')
  const timer = async (wanted: string) =>
    (await service.client.get('/api/timers')).json.timers.find((each: { id: string }) => each.id === wanted)
  await expect.poll(async () => (await timer(id)).settled).toBe('done')
  const other = await remind(service, 'Feed the cat')
  await toast.filter({ hasText: 'Feed the cat' }).getByRole('button', { name: 'Snooze' }).press('Enter')
  await expect.poll(async () => (await timer(other)).settled).toBe('snoozed')
  await toast.filter({ hasText: 'Snoozed until' }).waitFor()
  await expect.poll(() => page.title()).toBe('Logs · Delegate')
})

test('shows with its words, once, what fell due while the page was cut off or closed, without a model', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ fault: httpFaults.serverError() }))
  const page = await visit(browser(), service, {
    path: '/notes',
    expected: /ERR_INTERNET_DISCONNECTED|WebSocket connection/,
  })
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  const context = page.context()
  await context.setOffline(true)
  await page.evaluate(() => dispatchEvent(new Event('online')))
  const unseen = async () => (await service.client.get('/api/notifications')).json.notifications
  await remind(service, 'Check the oven')
  await expect.poll(async () => (await unseen()).length).toBe(1)
  await context.setOffline(false)
  const toast = page.locator('.toast')
  await toast.filter({ hasText: 'Reminder: Check the oven' }).waitFor()
  // The owner is there, so nothing is pushed.
  await expect.poll(unseen).toEqual([])
  await page.close()

  await remind(service, 'Feed the cat')
  await expect.poll(async () => (await unseen()).length).toBe(1)
  const later = await context.newPage()
  await later.goto('/memories')
  await later.locator('.toast').filter({ hasText: 'Reminder: Feed the cat' }).waitFor()
  expect(await later.locator('.toast').count()).toBe(1)
})
