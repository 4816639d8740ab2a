import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel, tellHistory } from './model.ts'
import { failFirstRequest, visit } from './page.ts'

const browser = useBrowser()

test('draws the report for each window, explains each figure, and offers a retry', async () => {
  // The clock starts at half past the hour, so that everything falls into one bucket.
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
  // The report is a snapshot, so wait for the delivery.
  await expect
    .poll(async () => (await service.client.get(`/api/tasks/${id}`)).json.deliveryState)
    .toBe('delivered')
  const page = await visit(browser(), service, {
    path: '/timers',
    expected: /500/,
    slowTimers: true,
    // Numbers are in the language of the words beside them, in any browser.
    context: { locale: 'fr-FR' },
  })
  const recover = await failFirstRequest(page, '**/api/session/operations?*')
  await page.getByRole('link', { name: 'Operations' }).click()
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  recover()

  const model = page.getByRole('region', { name: 'Model' })
  await model.getByRole('img', { name: /^Turns\. Completed: \d/ }).waitFor()
  // The legend shows the newest bucket unless the pointer is over the chart.
  const legend = model.locator('.u-legend').first()
  const legendValues = () => legend.locator('.u-value').allInnerTexts()
  const completedTurns = () => legendValues().then(([, completed]) => completed)
  await expect
    .poll(legendValues)
    .toEqual([expect.stringMatching(/\d:\d/), expect.stringMatching(/^[1-9]\d*$/), '0'])
  const plot = model.locator('.u-over').first()
  // The hovered bucket is a day old and empty. A chart that is drawn again under a pointer at rest forgets it.
  await expect
    .poll(async () => {
      await page.mouse.move(2, 2)
      await plot.hover({ position: { x: 20, y: 40 } })
      return completedTurns()
    })
    .not.toMatch(/^[1-9]/)
  await page.mouse.move(2, 2)
  await expect.poll(completedTurns).toMatch(/^[1-9]/)
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
  await checkLooks(page, 'operations-report')
  const sizeOf = (name: string) =>
    page.getByRole('link', { name }).evaluate((link) => getComputedStyle(link).fontSize)
  expect(await sizeOf('Backup settings')).toBe(await sizeOf('Security checks'))
  // At 400% zoom, the text of each window button still fits on one line.
  await page.setViewportSize({ width: 320, height: 640 })
  const windows = page.getByRole('group', { name: 'Window' }).getByRole('button')
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  await expect.poll(() => windows.evaluateAll(linesOf)).toEqual([1, 1, 1, 1, 1])
})

/** Runs in the page: the number of text lines in each element. */
function linesOf(elements: readonly Element[]): number[] {
  return elements.map((element) => {
    const words = document.createRange()
    words.selectNodeContents(element)
    return new Set([...words.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => top)).size
  })
}

test('shows the figures in a browser whose language is no language tag', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'Yes.' }))
  await tellHistory(service, 1)
  const page = await visit(browser(), service, { path: '/timers' })
  // As that of a Chromium that was started with LANG=C.
  await page.addInitScript(() => Object.defineProperty(navigator, 'language', { value: 'en-US@posix' }))
  await page.goto('/operations')
  const turns = page.getByRole('region', { name: 'Model' }).getByRole('definition').first()
  await turns.filter({ hasText: /^[1-9]/ }).waitFor()
})
