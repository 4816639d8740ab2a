import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { reply, say, visit, words } from './page.ts'

const browser = useBrowser()

/** Over 4 KiB, so that a page of the timeline contains only its beginning. */
const long = `${Array.from({ length: 200 }, (_, line) => `Line ${line + 1} of a long answer.`).join('\n\n')}\n\nThe very end.`

test('shows a long answer in full while it is live, and on request after a reload', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  model.reply({ text: [long.slice(0, 3000), long.slice(3000)] })
  const page = await visit(browser(), service)
  await say(page, 'Tell me everything')
  await reply(page, 'The very end.').waitFor()
  await page.getByRole('button', { name: 'Stop the reply' }).waitFor({ state: 'detached' })
  expect(await reply(page, 'The very end.').count()).toBe(1)
  expect(await page.getByRole('button', { name: /^Show all/ }).count()).toBe(0)

  await page.reload()
  const loaded = Promise.withResolvers<void>()
  await page.route('**/api/timeline/spans/*', async (route) => {
    await loaded.promise
    return route.continue()
  })
  const showAll = page.getByRole('button', { name: /^Show all/ })
  await showAll.click()
  await expect.poll(() => showAll.isDisabled()).toBe(true)
  loaded.resolve()
  await reply(page, 'The very end.').waitFor()
})

test('shows an answer that became a note in place, on request', async () => {
  const { service, model } = await startWithModel({ environment: { LONG_ANSWER_CHARS: '1000' } })
  model.reply({ text: long })
  model.reply({ text: 'You are welcome.' })
  const page = await visit(browser(), service, {
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  })
  await say(page, 'Tell me everything')
  const answer = reply(page, 'Line 1 of a long answer.')
  await answer.getByText('The full answer is in a note').waitFor()
  expect(await answer.getByText('The very end.').count()).toBe(0)
  await checkLooks(page, 'answer-in-note')
  const check = async () => {
    await answer.getByRole('button', { name: 'Show the whole answer', expanded: false }).click()
    await answer.getByText('The very end.').waitFor()
    await answer.focus()
    await page.keyboard.press('c')
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(long)
    await answer.getByRole('button', { name: 'Show only the beginning', expanded: true }).click()
    await answer.getByText('The very end.').waitFor({ state: 'detached' })
    await answer.getByText('The full answer is in a note').waitFor()
  }
  await check()
  await page.reload()
  await check()
  await say(page, 'Thanks')
  const short = reply(page, 'You are welcome.')
  await short.waitFor()
  expect(await short.getByRole('button', { name: 'Show the whole answer' }).count()).toBe(0)
})

test('offers no more of a reply that links to a note which it was asked to write', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  await say(page, 'Note: the blue key opens the shed')
  const noted = reply(page, /^\s*Noted: /)
  await noted.getByRole('link', { name: 'the blue key opens the shed' }).waitFor()
  expect(await noted.getByRole('button', { name: 'Show the whole answer' }).count()).toBe(0)
  await page.reload()
  await noted.getByRole('link', { name: 'the blue key opens the shed' }).waitFor()
  expect(await noted.getByRole('button', { name: 'Show the whole answer' }).count()).toBe(0)
})

test('places a message sent during a reply below it, marked as queued', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  const rest = Promise.withResolvers<void>()
  model.reply({ text: ['The first half', ' and the second.'], pause: { at: 5, until: rest.promise } })
  model.reply({ text: 'Now for the other.' })
  const page = await visit(browser(), service)
  await say(page, 'Tell me a story')
  await words(page, 'Delegate', 'The first half').waitFor()
  await say(page, 'And another one')
  const queued = page.getByRole('article', { name: 'You, queued, waiting for the reply above' })
  await queued.getByText('Queued').waitFor()
  // It looks like any other message, at its own height.
  const look = (message: Locator) =>
    message.evaluate((element) => [element.clientHeight, getComputedStyle(element).backgroundColor])
  expect(await look(queued)).toEqual(await look(words(page, 'You', 'Tell me a story')))
  await checkLooks(page, 'queued')
  const order = () => page.getByRole('article').locator('.words').allInnerTexts()
  await expect.poll(order).toEqual(['Tell me a story', 'The first half', 'And another one'])
  rest.resolve()
  await reply(page, 'Now for the other.').waitFor()
  await expect
    .poll(order)
    .toEqual(['Tell me a story', 'The first half and the second.', 'And another one', 'Now for the other.'])
  await queued.waitFor({ state: 'detached' })
})

test('keeps the words of an answer that fails midway, above its error', async () => {
  const { service, model } = await startWithModel()
  const broken = Promise.withResolvers<void>()
  const pause = { at: 5, until: broken.promise }
  const fault = { kind: 'ends', at: 6 } as const
  model.reply({ text: ['The ferry leaves at nine,', ' and', ' more'], pause, fault })
  const page = await visit(browser(), service)
  await say(page, 'When does the ferry leave?')
  await words(page, 'Delegate', 'The ferry leaves at nine,').waitFor()
  broken.resolve()
  const check = async () => {
    await page.getByText('The model service is unavailable.').waitFor()
    const shown = await page.locator('.row').allInnerTexts()
    expect(shown.slice(-2)).toEqual([
      expect.stringMatching(/^The ferry leaves at nine,.*incomplete/s),
      expect.stringMatching(/^The model service is unavailable/),
    ])
  }
  await check()
  await checkLooks(page, 'failed-midway')
  await page.reload()
  await check()
  model.reply({ text: 'The ferry leaves at nine, and returns at noon.' })
  await page.getByRole('button', { name: 'Try again' }).click()
  await reply(page, 'and returns at noon.').waitFor()
})
