import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { composer, inFocus, visit, words } from './page.ts'

const browser = useBrowser()

/** The label or text of the focused element, across shadow roots. */
const focused = (page: Page) =>
  page.evaluate(() => {
    let element = document.activeElement
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    return element?.getAttribute('aria-label') ?? element?.textContent?.replaceAll(/\s+/g, ' ').trim() ?? ''
  })

test('lets the owner install, chat, unfold, copy, search and erase by keyboard alone', async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, {
    signedIn: false,
    slowTimers: true,
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  })
  await inFocus(page.getByLabel('Password', { exact: true })).waitFor()
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  const pressAtStep = async (step: string, name: string | RegExp) => {
    // Each step moves the focus to its heading; until then, a focused button would lose it.
    await inFocus(page.getByRole('heading', { name: step })).waitFor()
    const button = page.getByRole('button', { name, exact: true })
    await button.waitFor()
    while (!(await button.evaluate((element) => element.matches(':focus')))) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
  }
  await pressAtStep('Where are you?', 'Continue')
  await pressAtStep('Choose a model', /^Without a service for now/)
  await pressAtStep('Connect a phone', 'Not now')
  await pressAtStep('Say hello', 'Skip')
  await inFocus(composer(page)).waitFor()
  await page.keyboard.type('Remember that my sister is called Mira')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('and lives in Oslo')
  await page.keyboard.press('Enter')
  // The finished reply, not its preview.
  await page.getByRole('article', { name: /^Delegate, \d/ }).waitFor()
  await expect.poll(() => focused(page)).toBe('Message')

  // From the empty composer, Ctrl+ArrowUp moves up the timeline. Entries after the reply come first.
  const upTo = async (name: RegExp) => {
    do await page.keyboard.press((await focused(page)) === 'Message' ? 'Control+ArrowUp' : 'ArrowUp')
    while (!name.test(await focused(page)))
  }
  await upTo(/^Delegate,/)
  await page.keyboard.press('c')
  await page.getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).not.toBe('')
  // The first fold belongs to the set-up.
  const activity = page.locator('.activity .fold').nth(1)
  while (!(await activity.evaluate((element) => element.matches(':focus'))))
    await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await expect.poll(() => activity.getAttribute('aria-expanded')).toBe('true')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => activity.getAttribute('aria-expanded')).toBe('false')

  await upTo(/^You,/)
  await page.keyboard.press('Delete')
  await page.getByRole('dialog', { name: 'Erase this message?' }).waitFor()
  await page.getByText('Will be erased').waitFor()
  await page.keyboard.press('Tab')
  await inFocus(page.getByRole('button', { name: 'Erase', exact: true })).waitFor()
  await page.keyboard.press('Enter')
  await words(page, 'You', 'Erased').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })

  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page)).toBe('Message')
  await page.keyboard.press('Control+/')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  // A German keyboard types the slash with Shift.
  await page.evaluate(() =>
    dispatchEvent(new KeyboardEvent('keydown', { key: '/', ctrlKey: true, shiftKey: true })),
  )
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.keyboard.press('Control+Shift+F')
  await inFocus(page.getByRole('searchbox', { name: 'Search the timeline' })).waitFor()
  await page.keyboard.type('nothing of the kind')
  await page.getByText('No results for').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page)).toBe('Message')
})

test('stops the reply in progress on Escape', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  const rest = Promise.withResolvers<void>()
  model.reply({ text: ['Half of it', ' and more'], pause: { at: 5, until: rest.promise } })
  const page = await visit(browser(), service)
  await inFocus(composer(page)).waitFor()
  await page.keyboard.type('Go')
  await page.keyboard.press('Enter')
  await words(page, 'Delegate', 'Half of it').waitFor()
  await page.keyboard.press('Escape')
  await words(page, 'Delegate', 'stopped by you').waitFor()
  rest.resolve()
})

test('keeps the chosen theme after a reload and in other tabs', { tags: ['long'] }, async () => {
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
  await expect
    .poll(() => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme))
    .toBe('dark')
})

test('focuses the invalid field of a rejected form', { tags: ['long'] }, async () => {
  const service = await startWholeService({ environment: { COPILOT_COMMAND: ASSISTANT } })
  const page = await visit(browser(), service, { path: '/timers', expected: /400/ })
  const fieldHasFocus = (label: string) => inFocus(page.getByLabel(label, { exact: true })).waitFor()
  await page.getByRole('button', { name: 'Set a reminder' }).first().click()
  await page.getByRole('button', { name: 'Set reminder' }).click()
  await fieldHasFocus('What for')
  await page.keyboard.type('Water the plants')
  await page.getByLabel('When').fill('2001-01-01T09:00')
  await page.getByRole('button', { name: 'Set reminder' }).click()
  await page.getByText('It is in the past.').waitFor()
  await fieldHasFocus('When')

  await page.goto('/tasks')
  await page.getByRole('button', { name: 'Hand over a task' }).first().click()
  await page.getByLabel('Name').fill('Mend the gate')
  await page.keyboard.press('Enter')
  await fieldHasFocus('What the coding assistant should do')

  await page.goto('/adaptations')
  await page.getByRole('button', { name: 'New' }).first().click()
  await page.getByLabel('Name').press('Enter')
  await fieldHasFocus('Name')
  await page.keyboard.type('Tone')
  await page.getByLabel('What Delegate should do').fill('Be brief.')
  for (const channel of ['Chat', 'Phone', 'Text messages']) await page.getByLabel(channel).uncheck()
  await page.getByRole('button', { name: 'Save' }).click()
  await fieldHasFocus('Chat')
})

test('does not send a message on the Enter that ends an IME composition', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  await composer(page).fill('にほん')
  const enter = (options: { readonly isComposing?: boolean; readonly keyCode?: number }) =>
    composer(page).evaluate((field, init) => {
      const event = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, composed: true, ...init })
      field.dispatchEvent(event)
    }, options)
  await enter({ isComposing: true })
  await enter({ isComposing: false, keyCode: 229 })
  expect(await composer(page).inputValue()).toBe('にほん')
  await enter({ keyCode: 13 })
  await words(page, 'You', 'にほん').waitFor()
})
