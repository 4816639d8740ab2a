import { expect, test } from 'vitest'
import { pagePaths } from './app-source.ts'
import { useBrowser } from './browser.ts'
import { startHouse } from './house.ts'
import { startWithModel } from './model.ts'
import { composer, phone, reply, settled, visit } from './page.ts'

const browser = useBrowser()

test('keeps the message field and the reminders as wide as a phone with text of twice the size', async () => {
  const { service } = await startWithModel()
  await service.client.post('/api/timers', { title: 'Water the plants', at: '2031-04-11T08:00' })
  const page = await visit(browser(), service, { context: { viewport: phone } })
  await composer(page).waitFor()
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%'
  })
  await expect.poll(async () => (await composer(page).boundingBox())?.width).toBeGreaterThan(300)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('link', { name: 'Reminders' }).click()
  const card = page.getByRole('listitem').filter({ hasText: 'Water the plants' })
  await card.waitFor()
  const box = await card.boundingBox()
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(phone.width)
})

test('keeps every place within a phone, and its search usable, with German text of twice the size', {
  tags: ['long'],
}, async () => {
  const { service } = await startHouse()
  const page = await visit(browser(), service, {
    context: { viewport: phone, locale: 'de-DE' },
    // One imported conversation needs an id.
    expected: /status of 404/,
  })
  for (const path of pagePaths().filter((path) => !['/install', '/login'].includes(path))) {
    await page.goto(path)
    await settled(page)
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '200%'
    })
    expect.soft([path, await page.evaluate(cutTexts)]).toEqual([path, []])
    for (const field of await page
      .locator('input:is([type=search], [type=text]):not([aria-hidden]):visible')
      .all())
      expect.soft((await field.boundingBox())?.width, path).toBeGreaterThan(150)
  }
})

/** Runs in the page: the texts that end beyond its edge. Code, tables and the links of the settings scroll. */
function cutTexts(): string[] {
  const cut: string[] = []
  const look = (root: ParentNode): void => {
    for (const element of root.children) {
      const { clipPath, visibility } = getComputedStyle(element)
      if (element.matches('pre, table, nav') || clipPath !== 'none' || visibility === 'hidden') continue
      for (const node of element.childNodes) {
        const range = document.createRange()
        range.selectNode(node)
        if (node.nodeType === Node.TEXT_NODE && range.getBoundingClientRect().right > innerWidth)
          cut.push(node.textContent?.trim() ?? '')
      }
      if (element.shadowRoot) look(element.shadowRoot)
      look(element)
    }
  }
  look(document)
  return cut
}

test('breaks no word of a button on a phone', async () => {
  const { service, model } = await startWithModel()
  const timer = { title: 'Buy fish', at: '2031-04-11T17:00', in_minutes: null }
  model.reply(
    { toolCalls: [{ name: 'set_timer', arguments: { ...timer, recurrence: null, missed_policy: null } }] },
    { text: 'I will.' },
  )
  await service.client.post('/api/chat', { content: 'Remind me to buy fish.' })
  const { events } = (await service.client.get('/api/timeline')).json
  const { seq } = events.find(({ type }: { type: string }) => type === 'chat.message.received')
  await service.client.post('/api/erasures', { kind: 'message', id: String(seq) })
  const page = await visit(browser(), service, { context: { viewport: phone, locale: 'de-DE' } })
  const undo = page.locator('.notice').getByRole('button', { name: 'Rückgängig' })
  await undo.waitFor()
  const words = await undo.evaluate((button) => {
    const range = document.createRange()
    range.selectNodeContents(button)
    return range.getBoundingClientRect().height
  })
  expect(words).toBeLessThan(20)
})

test('reveals the hidden tools of a reply on the first tap without pressing one', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  model.reply({ text: 'A short one.' })
  await service.client.post('/api/chat', { content: 'Say something' })
  const page = await visit(browser(), service, {
    slowTimers: true,
    context: {
      viewport: phone,
      hasTouch: true,
      isMobile: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    },
  })
  const message = reply(page, 'A short one.')
  await message.waitFor()
  const copy = message.getByLabel('Copy message')
  const box = await copy.boundingBox()
  if (!box) throw new Error('the copy button has no bounding box')
  expect(await copy.isVisible()).toBe(false)
  await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2)
  await expect.poll(() => copy.isVisible()).toBe(true)
  expect(await page.getByText('Copied').count()).toBe(0)
  await message.getByRole('button', { name: 'More for this message' }).tap()
  await page.getByRole('menuitem', { name: 'Copy', exact: true }).tap()
  await page.getByText('Copied').waitFor()
})
