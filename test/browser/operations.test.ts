import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { startWithModel, tellHistory } from './model.ts'
import { failing, phone, visit } from './page.ts'

const browser = useBrowser()
const picture = async (page: Awaited<ReturnType<typeof visit>>, name: string) => {
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` })
}

test('the report is drawn for each window, each figure says what it means, and it comes again when asked', async () => {
  // From half past an hour on: all that happens is in one bucket.
  const [startMs, hourMs] = [Date.now(), 3_600_000]
  const halfPastMs = (Math.floor(startMs / hourMs) + 0.5) * hourMs
  const { service, model: double } = await startWithModel({
    environment: { COPILOT_COMMAND: ASSISTANT },
    nowMs: () => halfPastMs + Date.now() - startMs,
  })
  double.answerWith(() => ({ text: 'Yes.' }))
  await tellHistory(service, 3)
  const { id } = (
    await service.client.post('/api/tasks', { title: 'Quick', prompt: steps({ print: 'Done' }) })
  ).json
  // The report is that of the moment at which it is asked for.
  await expect
    .poll(async () => (await service.client.get(`/api/tasks/${id}`)).json.deliveryState)
    .toBe('delivered')
  const page = await visit(browser(), service, {
    path: '/timers',
    expected: /500/,
    unhurried: true,
    // Numbers are English whatever the browser speaks, like the words beside them.
    context: { locale: 'de-DE' },
  })
  const mend = await failing(page, '**/api/session/operations?*')
  await page.getByRole('link', { name: 'Operations' }).click()
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  mend()

  const model = page.getByRole('region', { name: 'Model' })
  await model.getByRole('img', { name: /^Turns\. Completed: \d/ }).waitFor()
  // The newest bucket is told of before anything is pointed at, and again once nothing is.
  const legend = model.locator('.u-legend').first()
  const told = () => legend.locator('.u-value').allInnerTexts()
  const turns = () => told().then(([, completed]) => completed)
  await expect.poll(told).toEqual([expect.stringMatching(/\d:\d/), expect.stringMatching(/^[1-9]\d*$/), '0'])
  const plot = model.locator('.u-over').first()
  await plot.hover({ position: { x: 20, y: 40 } })
  // A day ago nothing had happened yet.
  await expect.poll(turns).not.toMatch(/^[1-9]/)
  await page.mouse.move(2, 2)
  await expect.poll(turns).toMatch(/^[1-9]/)
  await model.getByText('Messages and signals that were fully answered.').waitFor()
  const delivery = page.getByRole('region', { name: 'Task delivery' })
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
  await expect.poll(() => page.locator('dg-course-chart canvas').count()).toBeGreaterThanOrEqual(3)
  await picture(page, 'operations')
  expect(await findings(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'operations-dark')
  await page.setViewportSize(phone)
  await picture(page, 'operations-phone')
  expect(await findings(page)).toEqual([])
  // As wide as a page is at four times its size: each window still stands in one line.
  await page.setViewportSize({ width: 320, height: 640 })
  const windows = page.getByRole('group', { name: 'Window' }).getByRole('button')
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  await expect.poll(() => windows.evaluateAll(linesOf)).toEqual([1, 1, 1, 1, 1])
})

/** In the page: in how many lines the words of each element stand. */
function linesOf(elements: readonly Element[]): number[] {
  return elements.map((element) => {
    const words = document.createRange()
    words.selectNodeContents(element)
    return new Set([...words.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => top)).size
  })
}
