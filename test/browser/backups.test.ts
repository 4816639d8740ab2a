import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DAY_MS, factsOf, startBacking, untilFacts } from '../backups/harness.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { failFirstRequest, phone, visit } from './page.ts'

const browser = useBrowser()

test('shows how to turn backups on, and offers a retry', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers', expected: /500/ })
  const recover = await failFirstRequest(page, '**/api/backups')
  await page.getByRole('link', { name: 'Operations' }).click()
  const card = page.getByRole('region', { name: 'Backups' })
  await card.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await card.getByRole('button', { name: 'Try again' }).click()
  recover()
  await card.getByText('No backups yet. Choose a directory and a passphrase in Settings.').waitFor()
  await card.getByRole('link', { name: 'Backup settings' }).waitFor()
  expect(await card.getByRole('button').count()).toBe(0)
})

test('shows the last backup, the next one and the last test, and makes one now', async () => {
  const target = join(testDirectory(), 'backups')
  const service = await startWholeService({
    environment: { BACKUP_DIRECTORY: target, BACKUP_PASSPHRASE: 'seven grey herons' },
  })
  const page = await visit(browser(), service, { path: '/operations' })
  const card = page.getByRole('region', { name: 'Backups' })
  await card.getByText('Passed').waitFor()
  await card.getByRole('button', { name: 'Back up now' }).click()
  await page.getByText('Making a backup.').waitFor()
  await card.getByText('1 backup', { exact: true }).click()
  await card.getByText(/^delegate-.*\.backup/).waitFor()
  expect(await findings(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize(phone)
  expect(await findings(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  rmSync(target, { recursive: true })
  await page.reload()
  await card.getByText('The newest backup is missing from the backup directory.').waitFor()
})

test('forgets missing backups once the owner confirms it', async () => {
  const service = await startBacking()
  const [old] = await untilFacts(service, 'backup.made')
  await service.pass(DAY_MS)
  await untilFacts(service, 'backup.made', 2)
  await untilFacts(service, 'backup.tested')
  rmSync(join(service.target, String(old?.name)))
  await service.client.post('/api/auth/step-up', { password: PASSWORD })
  const page = await visit(browser(), service, { path: '/operations' })
  const card = page.getByRole('region', { name: 'Backups' })
  await card.getByRole('button', { name: 'Forget missing backups' }).click()
  await page.getByRole('dialog', { name: 'Forget missing backups?' }).waitFor()
  await page.getByRole('button', { name: 'Forget them' }).click()
  await page.getByText('Missing backups forgotten.').waitFor()
  await card.getByText('1 backup', { exact: true }).waitFor()
  expect(await card.getByRole('button', { name: 'Forget missing backups' }).count()).toBe(0)
  expect(await factsOf(service, 'backup.removed')).toEqual([{ names: [old?.name] }])
})
