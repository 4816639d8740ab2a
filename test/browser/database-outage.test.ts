import { expect, test } from 'vitest'
import { startDatabase } from '../support/database.ts'
import { testDirectory } from '../support/directory.ts'
import { postgresEnvironment, shareLedger } from '../support/shared-ledger.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { phone, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

test('says that PostgreSQL does not answer, keeps the message, and sends it on request once it does', {
  tags: ['long'],
}, async () => {
  const database = await startDatabase()
  const directory = testDirectory()
  await shareLedger(database, directory, 'commit')
  const environment = postgresEnvironment(database, 'commit', 'here', 5)
  const { service, model } = await startWithModel({ directory, environment })
  model.reply({ text: 'Good morning.' })
  const page = await visit(browser(), service, { context: { viewport: phone }, expected: /503/ })
  await say(page, 'Good morning')
  await reply(page, 'Good morning.').waitFor()

  await database.kill()
  await say(page, 'Are you still there?')
  const unsent = page.getByRole('article', { name: 'You, Not sent.' })
  await unsent.getByText('PostgreSQL does not answer, so Delegate cannot save this.').waitFor()
  await page.reload()
  await page.getByText(/Delegate cannot record what happens: PostgreSQL does not answer \(/).waitFor()
  await unsent.getByText('Are you still there?').waitFor()
  await checkLooks(page, 'database-outage')
  await page.getByRole('link', { name: 'See Health in Operations' }).click()
  await page.getByText('PostgreSQL cannot confirm that here may write, under epoch 2').waitFor()

  await database.start()
  await expect.poll(async () => (await service.client.get('/ready')).status).toBe(200)
  model.reply({ text: 'I am back.' })
  await page.goto('/')
  await unsent.getByRole('button', { name: 'Try again' }).click()
  await reply(page, 'I am back.').waitFor()
  expect(await words(page, 'You', 'Are you still there?').count()).toBe(1)
  await page.getByText('Delegate cannot record what happens').waitFor({ state: 'detached' })
})
