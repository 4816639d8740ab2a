import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel, tellHistory } from './model.ts'
import { choose, composer, inFocus, openSearch, phone, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

const query = (page: Page) => new URL(page.url()).search
const question = (page: Page, number: number) => words(page, 'You', `Question number ${number}.`)

/** Waits until the question is highlighted and has the focus. */
async function expectMoment(page: Page, number: number): Promise<void> {
  await inFocus(question(page, number)).waitFor()
  await page
    .locator('.row.found')
    .filter({ hasText: `Question number ${number}.` })
    .waitFor()
}

test('keeps the link to a moment far back in the address, and follows it again after a reload', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel({ environment: { TIMELINE_PAGE_EVENTS: '40' } })
  model.answerWith(() => ({ text: 'An answer.' }))
  await tellHistory(service, 30)
  const page = await visit(browser(), service, {
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  })
  await openSearch(page)
  await page.keyboard.type('"number 2"')
  await page.getByRole('button', { name: /Question number 2\./ }).click()
  await expectMoment(page, 2)
  await checkLooks(page, 'moment-link', question(page, 2))
  const address = query(page)
  expect(address).toMatch(/^\?seq=\d+$/)
  await page.reload()
  await expectMoment(page, 2)
  expect(query(page)).toBe(address)

  await choose(question(page, 2), 'Copy link')
  await page.getByText('Link copied').waitFor()
  const link = await page.evaluate(() => navigator.clipboard.readText())
  expect(link).toBe(`${service.origin}/${address}`)
  // The other name of the same link.
  await page.goto(link.replace('seq=', 'at='))
  await expectMoment(page, 2)

  // Back at the end, a reload stays there.
  await page.getByRole('button', { name: 'Go to the newest entry' }).click()
  await question(page, 30).waitFor()
  expect(query(page)).toBe('')
  await page.goBack()
  await expectMoment(page, 2)
  await say(page, 'Something new')
  await words(page, 'You', 'Something new').waitFor()
  expect(query(page)).toBe('')
})

test('follows the link of a page that is already open, also twice', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  await tellHistory(service, 3)
  const { events } = (await service.client.get('/api/timeline')).json
  const seqOf = (text: string) =>
    events.find((event: { payload: { text?: unknown } }) => event.payload.text === text).seq
  const page = await visit(browser(), service, { path: `/?seq=${seqOf('Question number 1.')}` })
  await expectMoment(page, 1)
  const go = (path: string) =>
    page.evaluate((href) => {
      const link = document.createElement('a')
      link.href = href
      document.querySelector('dg-app')?.append(link)
      link.click()
      link.remove()
    }, path)
  await go(`/?seq=${seqOf('Question number 2.')}`)
  await expectMoment(page, 2)
  await composer(page).focus()
  await go(`/?seq=${seqOf('Question number 2.')}`)
  await expectMoment(page, 2)
  await page.goBack()
  await expectMoment(page, 1)
})

test('puts the cursor into the message field, except on a phone', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.reply({ text: 'An answer.' })
  await service.client.post('/api/chat', { content: 'A question' })
  const page = await visit(browser(), service)
  await reply(page, 'An answer.').waitFor()
  await inFocus(composer(page)).waitFor()
  const handheld = await visit(browser(), service, {
    context: { viewport: phone, hasTouch: true, isMobile: true },
  })
  await reply(handheld, 'An answer.').waitFor()
  expect(await inFocus(composer(handheld)).count()).toBe(0)
})
