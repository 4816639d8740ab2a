import { expect, test } from 'vitest'
import { ofType, startWithPhone } from '../phone/phone-harness.ts'
import { GUEST, OWNER } from '../phone/provider.ts'
import { script, speech, TRAIN } from '../voice/call-harness.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { phone as phoneSize, say, visit, words } from './page.ts'

const browser = useBrowser()
const QUESTION = 'When does my train to Lisbon leave tomorrow?'
const greets = { audio: speech('caller-thanks'), transcript: 'Hello there, what is it?' }
const LONG = `${TRAIN} There is another at noon, from platform seven, if that is too early for you.`
const answers = { audio: Buffer.concat([speech('reply-train'), speech('reply-train')]), transcript: LONG }

test('a call shows live: who is on the line, the words as they are spoken, chat meanwhile; and is hung up here', async () => {
  const phone = await startWithPhone({
    script: script({ reply: ({ index }) => (index === 0 ? greets : answers) }),
    factor: 1,
  })
  const page = await visit(browser(), phone.service)
  const { caller } = await phone.dial('CA1', OWNER)
  const bar = page.getByRole('region', { name: 'Phone call' })
  await bar.filter({ hasText: 'You on the phone' }).filter({ hasText: OWNER }).waitFor()
  await words(page, 'Delegate', greets.transcript).waitFor()
  void caller.say(speech('caller-question'))
  await bar.filter({ hasText: 'you are speaking' }).waitFor()
  const speaking = page.getByRole('article', { name: /, speaking$/ })
  await speaking.filter({ hasText: 'Listening…' }).waitFor()
  // The first words of the answer are there before the last ones have been spoken.
  const answer = speaking.filter({ hasText: 'Your train' })
  await answer.waitFor()
  expect(await answer.textContent()).not.toContain('too early for you')
  await bar.filter({ hasText: 'Delegate is speaking' }).waitFor()
  await words(page, 'You', QUESTION).waitFor()
  await words(page, 'Delegate', LONG).waitFor()
  // The fact took the place of its preview.
  expect(await page.getByRole('article').filter({ hasText: LONG }).count()).toBe(1)
  await say(page, 'I am also writing.')
  await words(page, 'Delegate', 'Yes.').waitFor()

  const small = await visit(browser(), phone.service, {
    context: { viewport: phoneSize, colorScheme: 'dark' },
  })
  await small.getByRole('region', { name: 'Phone call' }).waitFor()
  for (const look of [page, small]) expect(await findings(look)).toEqual([])
  await bar.getByRole('button', { name: 'Hang up' }).click()
  await bar.waitFor({ state: 'detached' })
  await small.getByRole('region', { name: 'Phone call' }).waitFor({ state: 'detached' })
  await caller.closed
  await page.getByText('Call ended').first().waitFor()
  const all = await phone.events()
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'owner_hung_up' } }])
})

test("a guest's call is told as a guest's, and a hang-up that fails is explained", async () => {
  const phone = await startWithPhone({
    script: script({ reply: () => greets, words: () => 'I am Ada.' }),
    factor: 1,
  })
  const page = await visit(browser(), phone.service, { expected: /500/ })
  const { caller } = await phone.dial('CA1', GUEST)
  const bar = page.getByRole('region', { name: 'Phone call' })
  await bar.filter({ hasText: 'A guest on the phone' }).filter({ hasText: GUEST }).waitFor()
  await words(page, 'Delegate', greets.transcript).waitFor()
  void caller.say(speech('caller-question'))
  await bar.filter({ hasText: 'the guest is speaking' }).waitFor()
  await page.route('**/hangup', (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
  await bar.getByRole('button', { name: 'Hang up' }).click()
  await bar.getByRole('alert').filter({ hasText: '500' }).waitFor()
  await page
    .getByRole('article', { name: /^Guest/ })
    .filter({ hasText: 'I am Ada.' })
    .waitFor()
  await bar.getByRole('button', { name: 'Hang up' }).click()
  await bar.waitFor({ state: 'detached' })
})
