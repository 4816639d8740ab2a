// @module-tag long

import { expect, test } from 'vitest'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { checkLooks, checkThemes, looks } from './looks.ts'
import { startWithModel } from './model.ts'
import { settled, visit } from './page.ts'

const browser = useBrowser()

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

for (const [look, context] of looks) {
  test(`reminders are accessible on their page and on the timeline (${look})`, async () => {
    const service = await startWithReminders()
    const page = await visit(browser(), service, { path: '/timers', context })
    await page.getByRole('list', { name: 'Due' }).waitFor()
    await settled(page)
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await checkThemes(page, 'reminders', look)
    await page.getByRole('button', { name: 'Snooze: Stretch' }).click()
    await page.getByRole('menuitem', { name: 'Tomorrow morning' }).waitFor()
    await checkThemes(page, 'reminder-snooze', look)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Edit Water the plants' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await checkThemes(page, 'reminder-edit', look)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Make an address' }).click()
    await page.getByRole('button', { name: 'Copy' }).waitFor()
    // Every picture would have another address.
    await page.getByText(/\/calendar\//).evaluate((shown) => {
      shown.textContent = `https://delegate.example/calendar/${'Ab3d'.repeat(11).slice(1)}.ics`
    })
    await page.getByRole('button', { name: 'Copy' }).scrollIntoViewIfNeeded()
    await checkThemes(page, 'reminder-calendar', look)
    await page.goto('/')
    await page.locator('.notice.reminder').first().waitFor()
    await checkThemes(page, 'reminders-timeline', look)
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
  expect(await findings(page)).toEqual([])
  await checkLooks(page, 'reminder-toast')
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
