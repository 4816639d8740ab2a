import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { hostileTexts } from './hostile-texts.ts'
import { startWithModel } from './model.ts'
import { say, visit, words } from './page.ts'

const browser = useBrowser()

/** Whatever runs that should not says so: the texts call `alert`, or set `executed`. */
async function watchExecutions(page: Page): Promise<() => Promise<unknown>> {
  page.on('dialog', (dialog) => void dialog.dismiss())
  await page.addInitScript(() => {
    const executed: string[] = []
    Object.assign(window, { executed, alert: () => executed.push('alert') })
  })
  await page.reload()
  return () => page.evaluate(() => Reflect.get(window, 'executed'))
}

// `visit` also expects that no request went to anybody else, and that no content security policy was breached.
test('hostile text from the owner and from the model runs nothing and fetches nothing', async () => {
  const { service, model } = await startWithModel()
  const page = await visit(browser(), service)
  const executed = await watchExecutions(page)
  for (const [index, text] of hostileTexts.entries()) {
    model.reply({ text: [text.slice(0, 9), text.slice(9), `\n\ndone ${index}.`] })
    await say(page, `${text} ${index}`)
    await words(page, 'Delegate', `done ${index}.`).waitFor()
  }
  for (const link of await page.locator('.prose a').all()) {
    expect(await link.getAttribute('href')).toMatch(/^(https?:|mailto:|tel:|\/[^/])/)
    expect(await link.getAttribute('rel')).toContain('noopener')
  }
  expect(await page.locator('.prose :is(img, svg, iframe, form, input, style, script, object)').count()).toBe(
    0,
  )
  expect(await executed()).toEqual([])

  await page.reload()
  await words(page, 'Delegate', `done ${hostileTexts.length - 1}.`).waitFor()
  for (const fold of await page.locator('.activity .fold').all()) await fold.click()
  expect(await executed()).toEqual([])
})

test('hostile text is found by search, and runs nothing there either', async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'Noted.' }))
  for (const text of hostileTexts.slice(0, 8)) {
    await service.client.post('/api/chat', { content: `marker ${text}` })
  }
  const page = await visit(browser(), service)
  const executed = await watchExecutions(page)
  await page.getByRole('button', { name: 'Search' }).click()
  await page.keyboard.type('marker')
  await page
    .getByRole('button', { name: /marker/ })
    .first()
    .waitFor()
  expect(await page.locator('.results :is(img, svg:not(dg-icon svg), script)').count()).toBe(0)
  expect(await executed()).toEqual([])
})
