import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { phone, visit } from './page.ts'

const browser = useBrowser()

test('shows a failing check and its remedy on every page, and details under Health', async () => {
  const service = await startWholeService()
  const settings = join(service.directory, 'settings.sqlite')
  renameSync(settings, `${settings}.away`)
  const page = await visit(browser(), service, { context: { viewport: phone }, expected: /503/ })
  const notice = page.getByText(
    /Delegate cannot read its settings\. The file settings\.sqlite was deleted.*Put it back/,
  )
  await notice.waitFor()
  expect(await findings(page)).toEqual([])
  await page.getByRole('link', { name: 'See Health in Operations' }).click()
  const health = page.getByRole('region', { name: 'Health' })
  await health
    .getByText(/Settings: Delegate cannot read its settings\. The file settings\.sqlite was deleted/)
    .waitFor()
  await health.getByText('Everything that happens is recorded.').waitFor()
  await health.getByText('Model: The builtin model answers, without a model service.').waitFor()
  await health.locator('.off').getByText('Backups: Off.').waitFor()
  await health.getByText('No backlog, and no failures since Delegate started.').waitFor()
  expect(await findings(page)).toEqual([])
  renameSync(`${settings}.away`, settings)
  await page.reload()
  await health.getByText('Settings and sign-ins can be read.').waitFor()
  await page.goto('/notes')
  await page.getByRole('heading', { name: 'Notes', exact: true }).waitFor()
  await notice.waitFor({ state: 'detached' })
})

test('names the secrets that cannot be read, on every page and under Health', async () => {
  const directory = testDirectory()
  const first = await startWholeService({ directory })
  await first.client.put('/api/config', { entries: { OPENAI_API_KEY: 'sk-first-key' } })
  await first.stop()
  rmSync(join(directory, 'secret.key'))
  const service = await startWholeService({ directory })
  const page = await visit(browser(), service, { path: '/operations', context: { viewport: phone } })
  const says = /Some keys and tokens cannot be read\. secret\.key is missing.*OPENAI_API_KEY/
  await page.getByRole('region', { name: 'Health' }).getByText(says).waitFor()
  await page.goto('/notes')
  await page.getByText(says).waitFor()
  expect(await findings(page)).toEqual([])
})

test('shows warnings that do not affect readiness: low disk space, an unsent text and a copy that is behind', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers' })
  const checks = {
    ...(await service.client.get('/ready')).json.checks,
    postgres: {
      ok: false,
      detail:
        'PostgreSQL lacks 3 events since 2026-11-24T14:02:00.000Z: PostgreSQL does not answer (timeout).',
    },
    disk: { ok: false, detail: '120 MB free' },
    telephony: { ok: false, detail: 'Tried at 2026-11-24T14:02:00.000Z: unavailable.' },
  }
  await page.route('**/ready', (route) => route.fulfill({ json: { status: 'ready', checks } }))
  await page.reload()
  await page
    .getByText(/PostgreSQL lacks 3 events since .*2026.*: PostgreSQL does not answer \(timeout\)\./)
    .waitFor()
  await page.getByText('The disk is nearly full (120 MB free).').waitFor()
  await page.getByText(/The last text message was not sent\. Tried at .*2026.*: unavailable\./).waitFor()
})

test('lists backlogs and last failures, and offers a retry when Health cannot be loaded', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers', expected: /500/ })
  const { json } = await service.client.get('/api/session/health')
  const reactors = [
    {
      name: 'texts',
      state: 'ok',
      waiting: 3,
      since: '2026-11-24T14:02:00.000Z',
      lastFailure: {
        at: '2026-11-24T14:03:00.000Z',
        message: "could not fetch the provider's message list",
        inARow: 1,
      },
    },
    { name: 'learning', state: 'failing', waiting: 1, since: '2026-11-24T14:02:00.000Z', lastFailure: null },
  ]
  let isBroken = true
  await page.route('**/api/session/health', (route) =>
    isBroken ? route.fulfill({ status: 500 }) : route.fulfill({ json: { ...json, reactors } }),
  )
  await page.goto('/operations')
  const health = page.getByRole('region', { name: 'Health' })
  await health.getByRole('alert').waitFor()
  isBroken = false
  await health.getByRole('button', { name: 'Try again' }).click()
  await health.getByText(/Learning memories, failing/).waitFor()
  await health.getByText(/3 waiting since/).waitFor()
  await health.getByText(/Last failure .*: could not fetch the provider's message list/).waitFor()
  expect(await findings(page)).toEqual([])
})
