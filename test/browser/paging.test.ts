import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel, tellHistory } from './model.ts'
import { choose, composer, inFocus, openSearch, phone, visit, words } from './page.ts'

const browser = useBrowser()

async function withHistory(exchanges: number) {
  const started = await startWithModel({ environment: { TIMELINE_PAGE_EVENTS: '40' } })
  started.model.answerWith(() => ({
    text: 'An answer.\n\n'.repeat(1 + (started.model.requests().length % 5)),
  }))
  await tellHistory(started.service, exchanges)
  return started.service
}

async function isAtStart(page: Page): Promise<boolean> {
  const scroller = page.getByRole('region', { name: 'Timeline' })
  // First the beginning: while older pages come, what is read stays where it is, and the top moves away from it.
  if (!(await page.getByText('This is where your timeline begins.').isVisible())) return false
  return (await scroller.evaluate((element) => element.scrollTop)) === 0
}

/** Watches, in each frame, whether rows that stay in view move against the direction of the scroll. */
async function watchForJumps(page: Page): Promise<() => Promise<readonly number[]>> {
  const scroller = page.getByRole('region', { name: 'Timeline' })
  await scroller.evaluate((element) => {
    const jumps: number[] = []
    Object.assign(element, { jumps })
    let before = new Map<string, number>()
    const look = () => {
      const now = new Map<string, number>()
      for (const row of element.querySelectorAll<HTMLElement>('[data-key]')) {
        const { top, bottom } = row.getBoundingClientRect()
        if (bottom > 60 && top < innerHeight - 120) now.set(row.dataset.key ?? '', top)
      }
      const moves = [...now].flatMap(([key, top]) => {
        const earlier = before.get(key)
        return earlier === undefined ? [] : [top - earlier]
      })
      // Scrolling back moves all rows down together: one that moves up, or on its own, has jumped.
      if (moves.length > 0) {
        const [least, most] = [Math.min(...moves), Math.max(...moves)]
        if (least < -2 || most - least > 2) jumps.push(least, most)
      }
      before = now
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
  return () => scroller.evaluate((element): number[] => Reflect.get(element, 'jumps'))
}

test('the past comes in above while one scrolls back, and what is being read never moves', async () => {
  const service = await withHistory(60)
  const page = await visit(browser(), service)
  await words(page, 'You', 'Question number 60.').waitFor()
  const jumps = await watchForJumps(page)
  await page.mouse.move(700, 400)
  while (!(await isAtStart(page))) {
    await page.mouse.wheel(0, -500)
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  await words(page, 'You', 'Question number 1.').waitFor()
  expect(await jumps()).toEqual([])
})

test('the page opens at the newest words, and grows with them, on a phone too', async () => {
  const service = await withHistory(12)
  const page = await visit(browser(), service, {
    context: { viewport: phone, hasTouch: true, isMobile: true },
  })
  const scroller = page.getByRole('region', { name: 'Timeline' })
  const toEnd = () => scroller.evaluate((e) => Math.round(e.scrollHeight - e.scrollTop - e.clientHeight))
  await words(page, 'You', 'Question number 12.').waitFor()
  await expect.poll(toEnd).toBe(0)
  await service.client.post('/api/chat', { content: 'One more.' })
  await words(page, 'You', 'One more.').waitFor()
  await expect.poll(toEnd).toBe(0)
})

test('only what is near the viewport is in the document', async () => {
  const service = await withHistory(60)
  const page = await visit(browser(), service)
  await words(page, 'You', 'Question number 60.').waitFor()
  const scroller = page.getByRole('region', { name: 'Timeline' })
  while (!(await isAtStart(page))) await scroller.evaluate((element) => element.scrollTo(0, 0))
  await words(page, 'You', 'Question number 1.').waitFor()
  await expect.poll(() => page.getByRole('article').count()).toBeLessThan(40)
})

test('new words do not disturb the owner who reads further up; at the end, they are followed', async () => {
  const service = await withHistory(30)
  const page = await visit(browser(), service, { context: { viewport: phone, hasTouch: true } })
  await words(page, 'You', 'Question number 30.').waitFor()
  const scroller = page.getByRole('region', { name: 'Timeline' })
  // A page that is still being laid out follows its end, so one step up may be taken back.
  await expect
    .poll(async () => {
      await scroller.evaluate((element) => element.scrollBy(0, -900))
      return page.getByRole('button', { name: 'Go to the newest entry' }).isVisible()
    })
    .toBe(true)
  const jumps = await watchForJumps(page)
  await service.client.post('/api/chat', { content: 'Something new.' })
  // What is read out says that the page has heard of it; then one frame more.
  await page.getByRole('log').filter({ hasText: 'Delegate: An answer.' }).waitFor({ state: 'attached' })
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
  expect(await jumps()).toEqual([])
  await page.getByRole('button', { name: 'Go to the newest entry' }).click()
  await words(page, 'You', 'Something new.').waitFor()
  await service.client.post('/api/chat', { content: 'And newer.' })
  await words(page, 'You', 'And newer.').waitFor()
  const toEnd = () => scroller.evaluate((e) => Math.round(e.scrollHeight - e.scrollTop - e.clientHeight))
  await expect.poll(toEnd).toBe(0)
  await words(page, 'Delegate', 'An answer.').last().waitFor()
})

test('a search hit leads to its moment, however many pages lie between', async () => {
  const service = await withHistory(40)
  const page = await visit(browser(), service)
  await words(page, 'You', 'Question number 40.').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search the timeline' }).fill('"number 3"')
  await page.getByRole('button', { name: /Question number 3\./ }).click()
  // It is there before it has the focus, which it gets a frame later.
  await inFocus(words(page, 'You', 'Question number 3.')).waitFor()
})

test('where the end is in sight there is no way to it, however one came there', async () => {
  const service = await withHistory(2)
  const page = await visit(browser(), service)
  await words(page, 'You', 'Question number 2.').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search the timeline' }).fill('"number 1"')
  await page.getByRole('button', { name: /Question number 1\./ }).click()
  await inFocus(words(page, 'You', 'Question number 1.')).waitFor()
  expect(await page.getByRole('button', { name: 'Go to the newest entry' }).count()).toBe(0)
})

test('a search that finds nothing says so', async () => {
  const service = await withHistory(1)
  const page = await visit(browser(), service)
  await openSearch(page)
  await page.keyboard.type('zyzzyva')
  await page.getByText('No results for “zyzzyva”').waitFor()
})

test('a long message is cut short and shown whole on request', async () => {
  const { service, model } = await startWithModel()
  const ending = 'and that is the end.'
  model.reply({ text: 'I see.' })
  await service.client.post('/api/chat', { content: `${'All is well. '.repeat(800)}${ending}` })
  const page = await visit(browser(), service)
  await page.getByRole('button', { name: /^Show all/ }).click()
  await words(page, 'You', ending).waitFor()
  await page.getByRole('button', { name: /^Show all/ }).waitFor({ state: 'detached' })
})

test('the menu of an exchange comes with the pointer or the focus, moves nothing, and is always there for fingers', async () => {
  const service = await withHistory(3)
  const page = await visit(browser(), service)
  await words(page, 'You', 'Question number 3.').waitFor()
  const first = page.locator('.span').first()
  const menus = page.getByRole('button', { name: 'More for this exchange' })
  const heights = () => page.locator('.row').evaluateAll((rows) => rows.map((row) => row.clientHeight))
  const before = await heights()
  await first.hover()
  await first.getByRole('button', { name: 'More for this exchange' }).waitFor()
  expect(await menus.count()).toBe(1)
  expect(await heights()).toEqual(before)
  await page.mouse.move(5, 5)
  await first.locator('.fold').focus()
  await page.keyboard.press('Tab')
  await first.getByRole('button', { name: 'More for this exchange' }).and(page.locator(':focus')).waitFor()

  const touched = await visit(browser(), service, {
    context: { viewport: phone, hasTouch: true, isMobile: true },
  })
  await words(touched, 'You', 'Question number 3.').waitFor()
  const spans = await touched.locator('.span').count()
  expect(await touched.getByRole('button', { name: 'More for this exchange' }).count()).toBe(spans)
})

test('a long exchange is folded from deep within it, by the keys and by the menu of any of its messages', async () => {
  const service = await startWholeService()
  await tellHistory(service, 30)
  const page = await visit(browser(), service)
  const last = words(page, 'You', 'Question number 30.')
  await last.waitFor()
  const heading = page.getByRole('button', { name: /Chat/ })
  await last.focus()
  await page.keyboard.press('ArrowLeft')
  await inFocus(heading).waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.getByRole('button', { name: 'Question number 1.', expanded: false }).waitFor()
  expect(await page.getByRole('article').count()).toBe(0)
  await page.keyboard.press('ArrowRight')
  await words(page, 'You', 'Question number 1.').waitFor()

  await page.getByRole('button', { name: 'Go to the newest entry' }).click()
  await last.waitFor()
  // The button is gone, and has not taken the focus with it.
  await inFocus(composer(page)).waitFor()
  await choose(last, 'Fold exchange')
  await inFocus(page.getByRole('button', { name: 'Question number 1.', expanded: false })).waitFor()
})
