import { expect, onTestFinished, test } from 'vitest'
import { httpFaults } from '../doubles/model/script.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { reply, say, visit } from './page.ts'

const browser = useBrowser()

test('explains why nothing can be compacted, follows each turn, and compacts on request', async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'A long answer. '.repeat(60) }))
  const page = await visit(browser(), service)
  await page.getByRole('button', { name: /^Context: 0%/ }).click()
  const panel = page.getByRole('dialog', { name: 'Context' })
  const compact = panel.getByRole('button', { name: 'Compact now' })
  await panel.getByText('No conversation to compact yet.').waitFor()
  await expect.poll(() => compact.isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })

  await say(page, 'Tell me everything')
  await reply(page, 'A long answer.').waitFor()
  await page.getByRole('button', { name: /^Context: 1%/ }).click()
  await panel.getByText(/1 turn: [\d,]+ tokens in/).waitFor()
  await compact.click()
  await panel.getByText(/Compacted from [\d,]+ to [\d,]+ tokens?/).waitFor()
  await panel.getByText(/by you: .*in use/).waitFor()
  const { json } = await service.client.get('/api/session/context')
  expect(json).toMatchObject({ replacementRetained: true, latestCompaction: { source: 'manual' } })
})

test('reports a failed compaction and allows another', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'First.' }))
  await service.client.post('/api/chat', { content: 'Begin' })
  model.replyToCompaction({ fault: httpFaults.unauthorised() })
  const page = await visit(browser(), service, { expected: /502/ })
  await page.getByRole('button', { name: /^Context: / }).click()
  const panel = page.getByRole('dialog', { name: 'Context' })
  await panel.getByRole('button', { name: 'Compact now' }).click()
  await panel.getByText('The context could not be compacted. It is unchanged.').waitFor()
  await expect.poll(() => panel.getByRole('button', { name: 'Compact now' }).isEnabled()).toBe(true)
  // The error stays after the meter refreshes.
  await service.client.post('/api/chat', { content: 'Go on' })
  await panel.getByText(/2 turns:/).waitFor()
  expect(await panel.getByText('The context could not be compacted. It is unchanged.').count()).toBe(1)
})

test('says that compaction must wait while a reply is in progress', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.reply({ text: 'First.' })
  await service.client.post('/api/chat', { content: 'Begin' })
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  model.reply({ text: ['So far', ' and on'], pause: { at: 3, until: never.promise } })
  const page = await visit(browser(), service)
  await say(page, 'Go on')
  await page.getByRole('button', { name: /^Context: / }).click()
  await page.getByText('A reply is in progress. You can compact when it is finished.').waitFor()
})
