import { expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { composer, phone, reply, visit } from './page.ts'

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
