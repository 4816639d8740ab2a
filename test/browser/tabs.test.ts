import { expect, onTestFinished, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { lastingPort } from '../support/lasting-port.ts'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { choose, composer, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

test('shows the same reply in two tabs, while it is written and after', async () => {
  const { service, model } = await startWithModel()
  const rest = Promise.withResolvers<void>()
  model.reply({ text: ['The first half', ' and the second.'], pause: { at: 5, until: rest.promise } })
  const here = await visit(browser(), service)
  const there = await visit(browser(), service)
  await say(here, 'Tell me a story')
  await words(there, 'You', 'Tell me a story').waitFor()
  await words(there, 'Delegate', 'The first half').waitFor()
  rest.resolve()
  for (const page of [here, there]) {
    await reply(page, 'The first half and the second.').waitFor()
    await expect.poll(() => page.getByRole('article').count()).toBe(2)
  }
})

test('keeps the text of a stopped reply and lets the owner continue', async () => {
  const { service, model } = await startWithModel()
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  model.reply({ text: ['So far so good', ' and never this'], pause: { at: 5, until: never.promise } })
  const page = await visit(browser(), service)
  await say(page, 'Count to a million')
  await words(page, 'Delegate', 'So far so good').waitFor()
  const stop = page.getByRole('button', { name: 'Stop the reply' })
  const place = await stop.boundingBox()
  // Stop keeps its place for a while after the reply. Here it does for an hour.
  await page.evaluate(() => {
    const later = setTimeout
    Object.assign(window, {
      setTimeout: (act: () => void, ms = 0) => later(act, ms === 800 ? 3_600_000 : ms),
    })
  })
  await stop.click()
  await words(page, 'Delegate', 'stopped by you').waitFor()
  // Another click in the same place must not hit the button to talk.
  await page.mouse.click((place?.x ?? 0) + 10, (place?.y ?? 0) + 10)
  expect(await page.locator('dg-talk-bar, [role=alert]').allTextContents()).toEqual([])
  model.reply({ text: 'Going on.' })
  await say(page, 'Go on')
  await words(page, 'Delegate', 'Going on.').waitFor()
})

test('catches up after a cut without gaps or duplicates, and sends what was written offline', {
  tags: ['long'],
}, async () => {
  const directory = testDirectory()
  const environment = { PORT: await lastingPort() }
  const first = await startWholeService({ directory, environment })
  const page = await visit(browser(), first, { expected: /WebSocket|ERR_CONNECTION|Failed to load/ })
  await say(page, 'Before the cut')
  await reply(page, /\w/).waitFor()
  await first.stop()
  await page.getByText('Offline').waitFor()
  await say(page, 'During the cut')
  await page.getByRole('article', { name: 'You, Waiting for the connection…' }).waitFor()

  const second = await startWholeService({ directory, environment })
  await second.client.post('/api/chat', { content: 'From elsewhere' })
  await words(page, 'You', 'From elsewhere').waitFor()
  await words(page, 'You', 'During the cut').waitFor()
  for (const said of ['Before the cut', 'From elsewhere', 'During the cut']) {
    await expect.poll(() => words(page, 'You', said).count()).toBe(1)
  }
  await page.getByText('Offline').waitFor({ state: 'detached' })
})

test('keeps messages written offline across a reload', async () => {
  const directory = testDirectory()
  const environment = { PORT: await lastingPort() }
  const first = await startWholeService({ directory, environment })
  const page = await visit(browser(), first, { expected: /WebSocket|ERR_CONNECTION|Failed to load/ })
  await say(page, 'Yes')
  await reply(page, /\w/).waitFor()
  await first.stop()
  await page.getByText('Offline').waitFor()
  await say(page, 'Yes')
  await page.getByRole('article', { name: 'You, Waiting for the connection…' }).waitFor()

  // Keeps the page from noticing the restart before the reload.
  await page.route('**/auth/status', () => undefined)
  const second = await startWholeService({ directory, environment })
  await page.reload()
  await expect.poll(() => words(page, 'You', 'Yes').count()).toBe(2)
  const said = async () =>
    (await second.client.get('/api/timeline/search?q=Yes')).json.hits.filter(
      ({ type }: { type: string }) => type === 'chat.message.received',
    ).length
  await expect.poll(said).toBe(2)
  await page.getByText(/Waiting for the connection|Sending/).waitFor({ state: 'detached' })
})

test('sends waiting messages after a reload of any page', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes' })
  let cut = true
  await page.routeWebSocket(/\/chat/, (socket) => void (cut || socket.connectToServer()))
  await page.goto('/')
  await say(page, 'During the cut')
  await page.getByRole('link', { name: 'Notes' }).click()
  await page.getByRole('heading', { name: 'Notes', exact: true }).waitFor()
  cut = false
  await page.reload()
  const said = async () => (await service.client.get('/api/timeline/search?q=During')).json.hits
  await expect.poll(said).not.toEqual([])
  expect(new URL(page.url()).pathname).toBe('/notes')
})

test('does not mistake a new message for an earlier one with the same words', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  await service.client.post('/api/chat', { content: 'Thank you' })
  const page = await visit(browser(), service, { path: '/notes' })
  const held = Promise.withResolvers<void>()
  await page.routeWebSocket(/\/chat/, async (socket) => {
    await held.promise
    socket.connectToServer()
  })
  await page.goto('/')
  await say(page, 'Thank you')
  held.resolve()
  await expect.poll(() => words(page, 'You', 'Thank you').count()).toBe(2)
})

test('shows a failed turn in the place of its reply and retries it', async () => {
  const { service, model } = await startWithModel()
  model.reply({ refusal: 'No.' })
  const page = await visit(browser(), service)
  await say(page, 'Please')
  const again = page.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  model.reply({ text: 'Gladly.' })
  await again.click()
  await words(page, 'Delegate', 'Gladly.').waitFor()
  await expect.poll(() => words(page, 'You', 'Please').count()).toBe(2)
})

test('removes words erased in one tab from the other', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.reply({ text: 'I heard it.' })
  const here = await visit(browser(), service)
  const there = await visit(browser(), service)
  await say(here, 'My secret is a canary')
  for (const page of [here, there]) await reply(page, 'I heard it.').waitFor()
  await choose(words(here, 'You', 'canary'), 'Erase…')
  await here.getByRole('button', { name: 'Erase', exact: true }).click()
  for (const page of [here, there]) {
    await words(page, 'You', 'Erased').waitFor()
    // The dialog may still be closing.
    await expect.poll(() => page.getByText('canary').count()).toBe(0)
  }
})

test('marks the end of a conversation and starts a new one with the next message', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'Yes.' }))
  const page = await visit(browser(), service)
  await say(page, 'One')
  await reply(page, 'Yes.').waitFor()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'End conversation' }).click()
  await page.locator('.boundary').waitFor()
  await say(page, 'Two')
  await words(page, 'You', 'Two').waitFor()
  // The page shows the message before the service has recorded it, so poll.
  const statuses = async () =>
    (await service.client.get('/api/conversations')).json.conversations.map(
      ({ status }: { status: string }) => status,
    )
  await expect.poll(statuses).toEqual(['open', 'ended'])
})

test('keeps a message that is too long, and says why it sends no picture', async () => {
  const { service, model } = await startWithModel()
  const page = await visit(browser(), service)
  const long = 'word '.repeat(20_001).trim()
  await composer(page).fill(long)
  await composer(page).press('Enter')
  await page.getByText('The message has 100,004 characters. At most 100,000 can be sent.').waitFor()
  expect(await composer(page).inputValue()).toBe(long)
  await composer(page).evaluate((area) => {
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File(['…'], 'cat.png', { type: 'image/png' }))
    area.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })
  await page.getByText('Pictures and other files cannot be sent here.').waitFor()
  expect(model.requests()).toEqual([])
})
