import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { composer, visit, words } from './page.ts'

const browser = useBrowser()

/** The accessible text of what has the focus, through all shadow roots. */
const focused = (page: Page) =>
  page.evaluate(() => {
    let element = document.activeElement
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    return element?.getAttribute('aria-label') ?? element?.textContent?.replaceAll(/\s+/g, ' ').trim() ?? ''
  })

test('the owner can install, talk, unfold, copy, search and erase without a pointer', async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, {
    signedIn: false,
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  })
  // The password field has the focus.
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Where are you?' }).and(page.locator(':focus')).waitFor()
  const isOn = async (name: string) => {
    const button = page.getByRole('button', { name, exact: true })
    await button.waitFor()
    while (!(await button.evaluate((element) => element.matches(':focus')))) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
  }
  await isOn('Continue')
  await isOn('Use the builtin model')
  await isOn('Not now')
  await isOn('Skip')
  await composer(page).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('Remember that my sister is called Mira')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('and lives in Oslo')
  await page.keyboard.press('Enter')
  // The reply itself, no longer its preview.
  await page.getByRole('article', { name: /^Delegate, \d/ }).waitFor()
  await expect.poll(() => focused(page)).toBe('Message')

  // From the empty field up into the timeline: the reply, what lay behind it, the message.
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => focused(page)).toMatch(/^Delegate,/)
  await page.keyboard.press('c')
  await page.getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).not.toBe('')
  const activity = page.locator('.activity .fold').first()
  while (!(await activity.evaluate((element) => element.matches(':focus'))))
    await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  expect(await activity.getAttribute('aria-expanded')).toBe('true')
  await page.keyboard.press('ArrowLeft')
  expect(await activity.getAttribute('aria-expanded')).toBe('false')

  await page.keyboard.press('ArrowUp')
  await expect.poll(() => focused(page)).toMatch(/^You,/)
  await page.keyboard.press('Delete')
  await page.getByRole('dialog', { name: 'Erase this message?' }).waitFor()
  await page.getByText('This goes').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await words(page, 'You', 'Erased').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })

  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page)).toBe('Message')
  await page.keyboard.press('Control+/')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('nothing of the kind')
  await page.getByText('Nothing found').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page)).toBe('Message')
})

test('Escape stops the reply that is being written', async () => {
  const { service, model } = await startWithModel()
  const rest = Promise.withResolvers<void>()
  model.reply({ text: ['Half of it', ' and more'], pause: { at: 5, until: rest.promise } })
  const page = await visit(browser(), service)
  await composer(page).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('Go')
  await page.keyboard.press('Enter')
  await words(page, 'Delegate', 'Half of it').waitFor()
  await page.keyboard.press('Escape')
  await words(page, 'Delegate', 'stopped by you').waitFor()
  rest.resolve()
})

test('the chosen theme holds after a reload and in other tabs', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  const other = await page.context().newPage()
  await other.goto('/')
  await other.getByRole('button', { name: 'Theme: system' }).waitFor()
  await page.getByRole('button', { name: 'Theme: system' }).click()
  await page.getByRole('button', { name: 'Theme: light' }).click()
  await other.getByRole('button', { name: 'Theme: dark' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark')
})
