import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel, tellHistory } from './model.ts'
import { choose, composer, inFocus, openSearch, phone, visit, words } from './page.ts'

const browser = useBrowser()

async function startWithHistory(exchanges: number) {
  const started = await startWithModel({ environment: { TIMELINE_PAGE_EVENTS: '40' } })
  started.model.answerWith(() => ({
    text: 'An [answer](/notes).\n\n'.repeat(1 + (started.model.requests().length % 5)),
  }))
  await tellHistory(started.service, exchanges)
  return started.service
}

async function isAtStart(page: Page): Promise<boolean> {
  const scroller = page.getByRole('region', { name: 'Timeline' })
  // Checks for the beginning first: loading older pages moves the top away.
  if (!(await page.getByText('This is where your timeline begins.').isVisible())) return false
  return (await scroller.evaluate((element) => element.scrollTop)) === 0
}

/** Watches in every frame for visible rows that move against the scroll or on their own. */
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
      // Scrolling back moves all rows down together; a row that does not has jumped.
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

test('loads older entries on scrolling back without moving the visible ones', async () => {
  const service = await startWithHistory(60)
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

test('opens at the newest entry and follows new ones on a phone', async () => {
  const service = await startWithHistory(12)
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

test('keeps only rows near the viewport in the document', { tags: ['long'] }, async () => {
  const service = await startWithHistory(60)
  const page = await visit(browser(), service)
  await words(page, 'You', 'Question number 60.').waitFor()
  const scroller = page.getByRole('region', { name: 'Timeline' })
  while (!(await isAtStart(page))) await scroller.evaluate((element) => element.scrollTo(0, 0))
  await words(page, 'You', 'Question number 1.').waitFor()
  await expect.poll(() => page.getByRole('article').count()).toBeLessThan(40)
})

test('follows new entries at the end, but does not move while the owner reads further up', {
  tags: ['long'],
}, async () => {
  const service = await startWithHistory(30)
  const page = await visit(browser(), service, { context: { viewport: phone, hasTouch: true } })
  await words(page, 'You', 'Question number 30.').waitFor()
  const scroller = page.getByRole('region', { name: 'Timeline' })
  // During layout the page follows its end, which may undo one scroll step.
  await expect
    .poll(async () => {
      await scroller.evaluate((element) => element.scrollBy(0, -900))
      return page.getByRole('button', { name: 'Go to the newest entry' }).isVisible()
    })
    .toBe(true)
  const jumps = await watchForJumps(page)
  await service.client.post('/api/chat', { content: 'Something new.' })
  // The announcement shows that the page has the reply; then wait for the layout.
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

test('opens a search hit that is many pages back', { tags: ['long'] }, async () => {
  const service = await startWithHistory(40)
  const page = await visit(browser(), service)
  await words(page, 'You', 'Question number 40.').waitFor()
  await page.keyboard.press('Control+Shift+F')
  await page.getByRole('searchbox', { name: 'Search the timeline' }).fill('"number 3"')
  await page.getByRole('button', { name: /Question number 3\./ }).click()
  await inFocus(words(page, 'You', 'Question number 3.')).waitFor()
})

test('hides the button to the newest entry while the end is in view', { tags: ['long'] }, async () => {
  const service = await startWithHistory(2)
  const page = await visit(browser(), service)
  await words(page, 'You', 'Question number 2.').waitFor()
  await page.keyboard.press('Control+Shift+F')
  await page.getByRole('searchbox', { name: 'Search the timeline' }).fill('"number 1"')
  await page.getByRole('button', { name: /Question number 1\./ }).click()
  await inFocus(words(page, 'You', 'Question number 1.')).waitFor()
  expect(await page.getByRole('button', { name: 'Go to the newest entry' }).count()).toBe(0)
})

test('says when a search finds nothing', async () => {
  const service = await startWithHistory(1)
  const page = await visit(browser(), service)
  await openSearch(page)
  await page.keyboard.type('zyzzyva')
  await page.getByText('No results for “zyzzyva”').waitFor()
})

test('shortens a long message and shows it in full on request', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  const ending = 'and that is the end.'
  model.reply({ text: 'I see.' })
  await service.client.post('/api/chat', { content: `${'All is well. '.repeat(800)}${ending}` })
  const page = await visit(browser(), service)
  await page.getByRole('button', { name: /^Show all/ }).click()
  await words(page, 'You', ending).waitFor()
  await page.getByRole('button', { name: /^Show all/ }).waitFor({ state: 'detached' })
})

test('shows the menu of an exchange on hover or focus without moving rows, and always on touch', {
  tags: ['long'],
}, async () => {
  const service = await startWithHistory(3)
  const page = await visit(browser(), service)
  await words(page, 'You', 'Question number 3.').waitFor()
  const first = page.locator('.span').first()
  const menus = page.getByRole('button', { name: 'More for this exchange' })
  const heights = () => page.locator('.row').evaluateAll((rows) => rows.map((row) => row.clientHeight))
  const before = await heights()
  const ownMenu = first.getByRole('button', { name: 'More for this exchange' })
  // The page may still move below the mouse, which then is over another exchange.
  const menusOnHover = async () => {
    await page.mouse.move(5, 5)
    await first.hover()
    return [await ownMenu.isVisible(), await menus.count()]
  }
  await expect.poll(menusOnHover).toEqual([true, 1])
  await expect.poll(heights).toEqual(before)
  await page.mouse.move(5, 5)
  await first.locator('.fold').focus()
  await page.keyboard.press('Tab')
  await ownMenu.and(page.locator(':focus')).waitFor()

  const touchPage = await visit(browser(), service, {
    context: { viewport: phone, hasTouch: true, isMobile: true },
  })
  await words(touchPage, 'You', 'Question number 3.').waitFor()
  const spans = await touchPage.locator('.span').count()
  await expect
    .poll(() => touchPage.getByRole('button', { name: 'More for this exchange' }).count())
    .toBe(spans)
})

test('folds a long exchange from any of its messages, by key or by menu', { tags: ['long'] }, async () => {
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
  // The button disappears and hands the focus to the composer.
  await inFocus(composer(page)).waitFor()
  await choose(last, 'Fold exchange')
  await inFocus(page.getByRole('button', { name: 'Question number 1.', expanded: false })).waitFor()
})
