import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { startWithModel, tellHistory } from './model.ts'
import { phone, visit } from './page.ts'

const browser = useBrowser()
const picture = async (page: Awaited<ReturnType<typeof visit>>, name: string) => {
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` })
}

test('the report is drawn for each window, each figure says what it means, and it comes again when asked', async () => {
  const { service, model: double } = await startWithModel({ environment: { COPILOT_COMMAND: ASSISTANT } })
  double.answerWith(() => ({ text: 'Yes.' }))
  await tellHistory(service, 3)
  await service.client.post('/api/tasks', { title: 'Quick', prompt: steps({ print: 'Done' }) })
  const page = await visit(browser(), service, { path: '/timers', expected: /500/ })
  await page.route('**/api/session/operations?*', (route) => route.fulfill({ status: 500, body: '{}' }), {
    times: 1,
  })
  await page.getByRole('link', { name: 'Operations' }).click()
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()

  const model = page.getByRole('region', { name: 'Model' })
  await model.getByRole('img', { name: /^Turns\. Completed: \d/ }).waitFor()
  // The newest bucket is told of before anything is pointed at, and again once nothing is.
  const legend = model.locator('.u-legend').first()
  const told = () => legend.locator('.u-value').allInnerTexts()
  await expect.poll(told).toEqual([expect.stringMatching(/\d:\d/), expect.stringMatching(/^\d+$/), '0'])
  const newest = await told()
  const plot = model.locator('.u-over').first()
  await plot.hover({ position: { x: 20, y: 40 } })
  await expect.poll(told).not.toEqual(newest)
  await page.mouse.move(2, 2)
  await expect.poll(told).toEqual(newest)
  await model.getByText('Messages and signals that were answered to the end.').waitFor()
  const delivery = page.getByRole('region', { name: 'Delivery of tasks' })
  await delivery.getByText('100%').waitFor()
  for (const name of [
    '1 h: the last hour',
    '6 h: the last 6 hours',
    '7 d: the last 7 days',
    '30 d: the last 30 days',
  ]) {
    await page.getByRole('button', { name, exact: true }).click()
    await page.getByRole('button', { name, exact: true, pressed: true }).waitFor()
  }
  await model.getByText('by day').waitFor()
  await page.getByRole('button', { name: 'the last 6 hours' }).click()
  await model.getByText('by minute').waitFor()
  expect(await page.locator('dg-course-chart canvas').count()).toBeGreaterThanOrEqual(3)
  await picture(page, 'operations')
  expect(await findings(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'operations-dark')
  await page.setViewportSize(phone)
  await picture(page, 'operations-phone')
  expect(await findings(page)).toEqual([])
})
