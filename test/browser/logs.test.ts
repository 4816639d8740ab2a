import { expect, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { lastingPort } from '../support/lasting-port.ts'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { hostileTexts } from './hostile-texts.ts'
import { phone, visit } from './page.ts'

const browser = useBrowser()

test('shows live lines, filters them by level and words, and pauses without losing any', async () => {
  const service = await startWholeService()
  service.log.info({ seq: 41 }, 'the first of them')
  const page = await visit(browser(), service, { path: '/logs.html' })
  const lines = page.locator('.line')
  await lines.filter({ hasText: 'the first of them' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  service.log.warn({ path: '/odd' }, 'something odd')
  const odd = lines.filter({ hasText: 'something odd' })
  await odd.waitFor()
  await expect.poll(() => odd.getAttribute('class')).toContain('warn')
  await odd.getByRole('button').click()
  await odd.getByText('"path": "/odd"').waitFor()

  const other = await page.context().newPage()
  await other.goto('/logs.html')
  await other.locator('.line').filter({ hasText: 'the first of them' }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  service.log.info('while paused')
  // Waits until the line arrives on a page that is not paused.
  await other.locator('.line').filter({ hasText: 'while paused' }).waitFor()
  expect(await lines.filter({ hasText: 'while paused' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Resume' }).click()
  await lines.filter({ hasText: 'while paused' }).waitFor()
  expect(await lines.filter({ hasText: 'the first of them' }).count()).toBe(1)

  await page.getByRole('searchbox', { name: 'Filter lines' }).fill('seq=41')
  await expect.poll(() => lines.count()).toBe(1)
  await page.getByRole('searchbox', { name: 'Filter lines' }).fill('no line has this')
  await page.getByRole('heading', { name: 'No matching lines' }).waitFor()
  await page.getByRole('searchbox', { name: 'Filter lines' }).fill('')
  await page.getByLabel('Level').selectOption('warn')
  await expect
    .poll(async () => [...new Set(await lines.locator('.level').allTextContents())])
    .toEqual(['warn'])
})

test('keeps a bounded number of lines and follows the newest unless the owner scrolls up', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/logs.html', context: { viewport: phone } })
  await page.getByText('Live', { exact: true }).waitFor()
  for (let index = 0; index < 3000; index += 1) {
    service.log.info(`flood ${index}`)
    if (index % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await page.getByText('flood 2999', { exact: true }).waitFor()
  expect(await page.locator('.line').count()).toBeLessThanOrEqual(1000)
  const scroller = page.getByRole('log', { name: 'Lines' })
  const toEnd = () => scroller.evaluate((e) => Math.round(e.scrollHeight - e.scrollTop - e.clientHeight))
  await expect.poll(toEnd).toBeLessThan(2)
  await scroller.evaluate((element) => element.scrollBy(0, -400))
  await page.getByRole('button', { name: 'Go to the newest line' }).waitFor()
  service.log.info('one more')
  await page.getByText('one more', { exact: true }).waitFor()
  expect(await toEnd()).toBeGreaterThan(100)
  await page.getByRole('button', { name: 'Go to the newest line' }).click()
  await expect.poll(toEnd).toBeLessThan(2)
})

// `visit` also fails on requests to other origins and on violations of the content security policy.
test('runs nothing for hostile log lines', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/logs.html' })
  await page.addInitScript(() =>
    Object.assign(window, { executed: [], alert: () => Reflect.get(window, 'executed').push(1) }),
  )
  await page.reload()
  for (const [index, text] of hostileTexts.entries()) service.log.info({ [text]: text }, `${text} ${index}`)
  const last = page
    .locator('.line')
    .filter({ hasText: ` ${hostileTexts.length - 1}` })
    .last()
  await last.waitFor()
  // All in one call: opening a line moves the others.
  await page.locator('button.head').evaluateAll((all, count) => {
    for (const head of all.slice(-count)) if (head instanceof HTMLElement) head.click()
  }, hostileTexts.length)
  await last.locator('button.head[aria-expanded=true]').waitFor()
  expect(await page.locator('.line :is(img, svg, iframe, form, script, a)').count()).toBe(0)
  expect(await page.evaluate(() => Reflect.get(window, 'executed'))).toEqual([])
})

test('resumes after a restart of the service without losing its first lines', {
  tags: ['long'],
}, async () => {
  const directory = testDirectory()
  const environment = { PORT: await lastingPort() }
  const service = await startWholeService({ directory, environment })
  for (let number = 1; number <= 30; number += 1) service.log.info(`before, ${number}`)
  const page = await visit(browser(), service, { path: '/logs', expected: /ERR_|status of/ })
  await page.locator('.line').filter({ hasText: 'before, 30' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await service.stop()
  await page.getByText('Reconnecting').waitFor()
  const again = await startWholeService({ directory, environment })
  again.log.info('first words')
  await page.locator('.line').filter({ hasText: 'first words' }).waitFor()
})

test('catches up after a proxy has answered 502 for a while', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers', expected: /status of 502/ })
  let isRefused = true
  await page.route('**/api/logs/stream?*', (route) =>
    isRefused ? route.fulfill({ status: 502, body: 'Bad gateway' }) : route.fallback(),
  )
  await page.goto('/logs')
  await page.getByText('Reconnecting').waitFor()
  service.log.info('said meanwhile')
  isRefused = false
  await page.locator('.line').filter({ hasText: 'said meanwhile' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
})
