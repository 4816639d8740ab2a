import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { checkThemes, looks, tagsOf } from './looks.ts'
import { failFirstRequest, visit } from './page.ts'

const browser = useBrowser()

for (const [look, context] of looks)
  test(`shows what to mend first, and what is in order (${look})`, { tags: tagsOf(look) }, async () => {
    const service = await startWholeService({
      environment: {
        COPILOT_COMMAND: ASSISTANT,
        TASK_ISOLATION: 'none',
        DAILY_CALLS: 'unlimited',
        PUBLIC_URL: 'https://delegate.example.com',
      },
    })
    const page = await visit(browser(), service, { path: '/settings', context })
    await page.getByRole('link', { name: 'Security checks' }).click()
    await page.getByText('4 things to mend').waitFor()
    const checks = page.getByRole('list', { name: 'Checks' }).getByRole('listitem')
    await checks.first().getByRole('heading', { name: 'Isolation of tasks (Problem)' }).waitFor()
    await checks.nth(1).getByRole('heading', { name: 'Proxy (Warning)' }).waitFor()
    await checks.nth(2).getByText('Only a password protects sign-in.').waitFor()
    await checks.nth(3).getByText('DAILY_CALLS is unlimited').waitFor()
    await checks.nth(3).getByText('Set a number in the environment.').waitFor()
    await checks
      .nth(4)
      .getByRole('heading', { name: /\(In order\)$/ })
      .waitFor()
    await checkThemes(page, 'security-mend', look)

    // A changed setting shows without a reload.
    await service.client.put('/api/config', { entries: { TRUSTED_PROXY: '10.1.2.3' } })
    await page.getByText('3 things to mend').waitFor()

    await page.goto('/tasks')
    await page.getByText('Tasks are not isolated').waitFor()
    await checkThemes(page, 'tasks-not-isolated', look)
    await page.getByRole('link', { name: 'See all security checks' }).click()
    await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor()
  })

test('says that everything is in order, and offers a retry when the checks cannot be loaded', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const { secret } = (await service.client.post('/api/auth/totp')).json
  const code = TOTP.generate({ secret: Secret.fromBase32(secret) })
  expect((await service.client.post('/api/auth/totp/confirm', { code })).status).toBe(200)
  const page = await visit(browser(), service, { path: '/timers', expected: /500/ })
  const recover = await failFirstRequest(page, '**/api/security')
  await page.goto('/security')
  await page.getByText('The checks cannot be shown').waitFor()
  expect(await findings(page)).toEqual([])
  recover()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Everything is in order').waitFor()
  await page.goto('/operations')
  await page.getByRole('link', { name: 'Security checks' }).click()
  await page.getByText('Everything is in order').waitFor()
})
