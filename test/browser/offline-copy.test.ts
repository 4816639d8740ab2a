import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { hasCopy, keepCopy, visitApp } from './installed.ts'

const browser = useBrowser()

test('removes the copy when Delegate opens after its session was ended elsewhere', async () => {
  const service = await startWholeService()
  const page = await visitApp(browser(), service)
  await keepCopy(page)
  // A page renews the copy once it is connected. Nothing renews it after that, so it is whole.
  await page.goto('/docs')
  const renewed = page.waitForResponse('**/api/offline-copy')
  await page.goto('/')
  await renewed
  await page.goto('/docs')
  expect(await hasCopy(page)).toBe(true)
  await service.client.post('/logout')
  await page.goto('/')
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
  await expect.poll(() => hasCopy(page)).toBe(false)
})
