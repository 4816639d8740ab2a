import { expect, test } from 'vitest'
import { script, speech, TRAIN } from '../phone/call/call-harness.ts'
import { ofType, startWithPhone } from '../phone/phone-harness.ts'
import { GUEST, OWNER } from '../phone/provider.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { phone as phoneSize, reply, say, visit, watchTexts, words } from './page.ts'

const browser = useBrowser()
const QUESTION = 'When does my train to Lisbon leave tomorrow?'
const greets = { audio: speech('caller-thanks'), transcript: 'Hello there, what is it?' }
const LONG = `${TRAIN} There is another at noon, from platform seven, if that is too early for you.`
const answers = { audio: Buffer.concat([speech('reply-train'), speech('reply-train')]), transcript: LONG }

test('shows the caller and the words of a live call beside the chat, and hangs up', async () => {
  const phone = await startWithPhone({
    script: script({ reply: ({ index }) => (index === 0 ? greets : answers) }),
    factor: 1,
  })
  const page = await visit(browser(), phone.service)
  const liveTexts = await watchTexts(
    page,
    'section[aria-label="Phone call"] .state, article[aria-label$=", speaking"]',
  )
  const { caller } = await phone.dial('CA1', OWNER)
  const bar = page.getByRole('region', { name: 'Phone call' })
  await bar.filter({ hasText: 'You on the phone' }).filter({ hasText: OWNER }).waitFor()
  await words(page, 'Delegate', greets.transcript).waitFor()
  await caller.say(speech('caller-question'))
  await words(page, 'You', QUESTION).waitFor()
  await reply(page, LONG).waitFor()
  // The finished reply replaces its preview.
  await expect.poll(() => page.getByRole('article').filter({ hasText: LONG }).count()).toBe(1)
  const shown = await liveTexts()
  expect(shown).toEqual(
    expect.arrayContaining([
      'you are speaking',
      'Listening…',
      expect.stringContaining('Delegate is speaking'),
    ]),
  )
  // The answer appears while it is spoken, not only at its end.
  const answer = shown.filter((text) => text.includes('Your train'))
  expect(answer[0]).not.toContain('too early for you')
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

test("labels a guest's call and explains a failed hang-up", { tags: ['long'] }, async () => {
  const phone = await startWithPhone({
    script: script({ reply: () => greets, words: () => 'I am Ada.' }),
    factor: 1,
  })
  const page = await visit(browser(), phone.service, { expected: /500/ })
  const callStates = await watchTexts(page, 'section[aria-label="Phone call"] .state')
  const { caller } = await phone.dial('CA1', GUEST)
  const bar = page.getByRole('region', { name: 'Phone call' })
  await bar.filter({ hasText: 'A guest on the phone' }).filter({ hasText: GUEST }).waitFor()
  await words(page, 'Delegate', greets.transcript).waitFor()
  void caller.say(speech('caller-question'))
  await expect.poll(callStates).toContain('the guest is speaking')
  await page.route('**/hangup', (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
  await bar.getByRole('button', { name: 'Hang up' }).click()
  await bar.getByRole('alert').filter({ hasText: '500' }).waitFor()
  await page
    .getByRole('article', { name: /^Guest/ })
    .filter({ hasText: 'I am Ada.' })
    .waitFor()
  // The error of one call does not appear on the next.
  await page.route('**/hangup', (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
  await bar.getByRole('button', { name: 'Hang up' }).click()
  await bar.getByRole('alert').filter({ hasText: '500' }).waitFor()
  caller.drop()
  await bar.waitFor({ state: 'detached' })
  await page.getByText('the line was lost').waitFor()
  await phone.dial('CA2', OWNER)
  await bar.filter({ hasText: 'You on the phone' }).waitFor()
  expect(await bar.getByRole('alert').count()).toBe(0)
  await bar.getByRole('button', { name: 'Hang up' }).click()
  await bar.waitFor({ state: 'detached' })
  await page.getByText('you hung up in the browser').waitFor()
})
