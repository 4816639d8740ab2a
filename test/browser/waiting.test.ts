import { expect, onTestFinished, test } from 'vitest'
import { createWaitingServer } from '../../src/http/waiting.ts'
import type { EngineStatus } from '../../src/storage/messages.ts'
import { createClient } from '../http/client.ts'
import { startWholeService } from '../support/service.ts'
import { newId } from '../support/writer.ts'
import { useBrowser } from './browser.ts'
import { checkThemes, looks } from './looks.ts'
import { visit } from './page.ts'

const browser = useBrowser()

const STANDBY: EngineStatus = {
  ...{ mode: 'commit', role: 'standby', node: 'two', holder: 'one', epoch: 3 },
  ...{ lag: 0, behindSince: null, fault: null },
}

test('a standby says what it waits for, and its page opens Delegate once that runs in its place', {
  tags: ['long'],
}, async () => {
  const listening = Promise.withResolvers<number>()
  const host = '127.0.0.1'
  const standby = createWaitingServer({
    port: 0,
    host,
    newId,
    metricsToken: null,
    onListening: listening.resolve,
  })
  standby.showStandby(STANDBY)
  const port = await listening.promise
  onTestFinished(standby.close)
  const place = { origin: `http://${host}:${port}`, client: createClient(port), setupCode: null }
  const pages = []
  for (const [look, context] of looks) {
    const expected = /503|ERR_CONNECTION|ERR_EMPTY_RESPONSE/
    const page = await visit(browser(), place, { path: '/notes?q=1', signedIn: false, context, expected })
    await page.getByText('This machine is a standby. It takes over if the other one stops.').waitFor()
    await checkThemes(page, 'standby', look)
    pages.push(page)
  }
  standby.showStandby({ ...STANDBY, fault: 'connect ECONNREFUSED' })
  for (const page of pages)
    await page.getByText('This machine cannot follow PostgreSQL at the moment. Its log says why.').waitFor()

  await standby.close()
  await startWholeService({ environment: { PORT: String(port) } })
  for (const page of pages) await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
})

test('an upgrade shows its progress', async () => {
  const listening = Promise.withResolvers<number>()
  const host = '127.0.0.1'
  const waiting = createWaitingServer({
    port: 0,
    host,
    newId,
    metricsToken: null,
    onListening: listening.resolve,
  })
  waiting.showOpening({ step: 'views', done: 250_000, total: 1_000_000 })
  const port = await listening.promise
  onTestFinished(waiting.close)
  const place = { origin: `http://${host}:${port}`, client: createClient(port), setupCode: null }
  for (const [look, context] of looks) {
    const page = await visit(browser(), place, { path: '/', signedIn: false, context, expected: /503/ })
    await page.getByText('Delegate rebuilds its views of the ledger.').waitFor()
    expect(await page.getByRole('progressbar', { name: 'Events done' }).getAttribute('value')).toBe('250000')
    await checkThemes(page, 'upgrade', look)
  }
})
