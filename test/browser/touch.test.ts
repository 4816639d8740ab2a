import { expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { phone, reply, visit } from './page.ts'

const browser = useBrowser()

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
