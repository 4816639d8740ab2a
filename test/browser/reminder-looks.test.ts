import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { desk, phone, settled, visit } from './page.ts'
import { picture } from './picture.ts'

const browser = useBrowser()

const looks = [
  { look: 'desk', viewport: desk, colorScheme: 'light' },
  { look: 'desk-dark', viewport: desk, colorScheme: 'dark' },
  { look: 'phone', viewport: phone, colorScheme: 'light' },
  { look: 'phone-dark', viewport: phone, colorScheme: 'dark' },
] as const

/** A service with reminders in every state. */
async function startWithReminders() {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: '' }))
  const { client } = service
  const set = async (title: string, body: object) =>
    String((await client.post('/api/timers', { title, ...body })).json.id)
  const at = new Date(Date.now() + 300).toISOString()
  const oven = await set('Take the bread out of the oven', { at })
  const cat = await set('Feed the cat', { at })
  await set('Call Ada about the weekend in Lisbon, and ask for the name of the restaurant', { at })
  await set('Stretch', { recurrence: '*/10 * * * *', at })
  await set('Water the plants', { recurrence: '5 9 * * 1-5' })
  await set('Check in for Lisbon', { at: '2031-04-11T08:00' })
  const isDue = async () => (await client.get('/api/timers?open=true')).json.timers.length
  await expect.poll(isDue).toBe(4)
  await client.post(`/api/timers/${oven}/done`, {})
  await client.post(`/api/timers/${cat}/snooze`, { minutes: 60 })
  return service
}

async function check(page: Page, name: string, look: string, width: number) {
  expect([name, await findings(page)]).toEqual([name, []])
  const scrolled = () => page.evaluate(() => document.documentElement.scrollWidth)
  await expect.poll(async () => [name, await scrolled()]).toEqual([name, width])
  await picture(page, name, look)
}

for (const { look, ...context } of looks) {
  test(`reminders are accessible on their page and on the timeline (${look})`, async () => {
    const service = await startWithReminders()
    const { width } = context.viewport
    const page = await visit(browser(), service, { path: '/timers', context })
    await page.getByRole('list', { name: 'Due' }).waitFor()
    await settled(page)
    await check(page, 'reminders', look, width)
    await page.getByRole('button', { name: 'Snooze: Stretch' }).click()
    await page.getByRole('menuitem', { name: 'Tomorrow morning' }).waitFor()
    await check(page, 'reminder-snooze', look, width)
    await page.getByRole('menuitem', { name: 'Another time…' }).click()
    await page.getByRole('button', { name: 'Snooze', exact: true }).click()
    await page.getByText('Choose a date and time.').waitFor()
    await check(page, 'reminder-snooze-until', look, width)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Edit Water the plants' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await check(page, 'reminder-edit', look, width)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Make an address' }).click()
    await page.getByRole('button', { name: 'Copy' }).waitFor()
    // Every picture would have another address.
    await page.getByText(/\/calendar\//).evaluate((shown) => {
      shown.textContent = `https://delegate.example/calendar/${'Ab3d'.repeat(11).slice(1)}.ics`
    })
    await page.getByRole('button', { name: 'Copy' }).scrollIntoViewIfNeeded()
    await check(page, 'reminder-calendar', look, width)
    await page.goto('/')
    await page.locator('.notice.reminder').first().waitFor()
    await check(page, 'reminders-timeline', look, width)
  })
}

test('fits reminders into 320 pixels, and settles them by keyboard alone', async () => {
  const service = await startWithReminders()
  const page = await visit(browser(), service, { context: { viewport: { width: 320, height: 640 } } })
  for (const path of ['/timers', '/']) {
    await page.goto(path)
    await page.getByRole('button', { name: 'Snooze: Stretch' }).waitFor()
    expect([path, await findings(page)]).toEqual([path, []])
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  }
  await page.goto('/logs')
  await settled(page)
  const at = new Date(Date.now() + 300).toISOString()
  await service.client.post('/api/timers', { title: 'Take the bread out of the oven', at })
  await page.locator('.toast').getByRole('button', { name: 'Snooze' }).waitFor()
  await check(page, 'reminder-toast', 'narrow', 320)
  await page.locator('.toast').getByRole('button', { name: 'Done' }).press('Enter')
  await page.locator('.toast').waitFor({ state: 'detached' })

  await page.goto('/timers')
  const done = page.getByRole('button', { name: 'Done: Stretch' })
  await done.focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: '10 minutes' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Coming up' }).getByText('Snoozed').nth(1).waitFor()
})
