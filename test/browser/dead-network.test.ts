import type { WebSocketRoute } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import type { TimelineEvent } from '../../src/http/contract/timeline.ts'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { composer, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

test('resends a message exactly once after a connection dies silently', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes' })
  let isDead = true
  await page.routeWebSocket(/\/chat/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((message) => {
      if (!isDead) server.send(message)
    })
  })
  await page.goto('/')
  await say(page, 'Into the silence')
  await page.getByRole('article', { name: 'You, Sending…' }).waitFor()
  isDead = false
  await words(page, 'You', 'Into the silence').waitFor()
  await page.getByText('Sending…').waitFor({ state: 'detached' })
  await reply(page, /\w/).waitFor()
  expect(await words(page, 'You', 'Into the silence').count()).toBe(1)
})

test('keeps a message that is lost, though another begins the same, and none that was erased meanwhile', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes' })
  let cut: 'up' | 'down' | null = null
  const sockets: WebSocketRoute[] = []
  await page.routeWebSocket(/\/chat/, (socket) => {
    sockets.push(socket)
    const server = socket.connectToServer()
    socket.onMessage((message) => {
      if (cut !== 'up') server.send(message)
    })
    server.onMessage((message) => {
      if (cut !== 'down') socket.send(message)
    })
  })
  const reconnect = async () => {
    cut = null
    await sockets.at(-1)?.close()
  }
  await page.goto('/')
  await composer(page).waitFor()
  cut = 'up'
  await say(page, 'Yes, book the flight to Lisbon')
  await service.client.post('/api/chat', { content: 'Yes' })
  await page.getByText('Yes', { exact: true }).waitFor()
  await page.getByRole('article', { name: 'You, Sending…' }).waitFor()
  await reconnect()
  await words(page, 'You', 'Yes, book the flight to Lisbon').waitFor()

  cut = 'down'
  await say(page, 'My PIN is 4711')
  const messages = async () => {
    const { events } = (await service.client.get('/api/timeline')).json
    return events.filter(({ payload }: TimelineEvent) => payload.text === 'My PIN is 4711')
  }
  await expect.poll(async () => (await messages()).length).toBe(1)
  const [{ seq }] = await messages()
  const erasure = await service.client.post('/api/erasures', { kind: 'message', id: String(seq) })
  await service.client.post(`/api/erasures/${erasure.json.id}/now`)
  await reconnect()
  await page.getByText('Erased').waitFor()
  await expect.poll(() => page.getByText('4711').count()).toBe(0)
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('4711')
})

test('stops a reply after a cut if the owner stopped it meanwhile', async () => {
  const { service, model } = await startWithModel()
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  model.reply({ text: ['So far so good', ' and never this'], pause: { at: 5, until: never.promise } })
  const page = await visit(browser(), service, { path: '/notes', expected: /WebSocket/ })
  const sockets: WebSocketRoute[] = []
  let isCut = false
  await page.routeWebSocket(/\/chat/, (socket) => {
    sockets.push(socket)
    if (isCut) void socket.close()
    else socket.connectToServer()
  })
  await page.goto('/')
  await say(page, 'Count to a million')
  await words(page, 'Delegate', 'So far so good').waitFor()
  isCut = true
  await sockets[0]?.close()
  await page.getByText('No live connection').waitFor()
  await page.getByRole('button', { name: 'Stop the reply' }).click()
  isCut = false
  await page.getByRole('button', { name: 'Try now' }).click()
  await words(page, 'Delegate', 'stopped by you').waitFor()
})

test('resumes a reply on a new connection after the old one dies', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  const resume = Promise.withResolvers<void>()
  model.reply({ text: ['The first half,', ' and the second.'], pause: { at: 3, until: resume.promise } })
  const page = await visit(browser(), service, { path: '/notes' })
  let connections = 0
  let isDead = false
  await page.routeWebSocket(/\/chat/, (socket) => {
    connections += 1
    const isFirst = connections === 1
    const server = socket.connectToServer()
    server.onMessage((message) => {
      if (!isFirst || !isDead) socket.send(message)
    })
  })
  await page.goto('/')
  await composer(page).waitFor()
  await page.clock.install()
  await say(page, 'Tell me both halves')
  await page.getByRole('button', { name: 'Stop the reply' }).waitFor()
  isDead = true
  resume.resolve()
  await expect.poll(async () => (await service.client.get('/api/timeline')).text).toContain('and the second.')
  // Stops once the page reconnects: going further would time out the new connection too.
  await expect
    .poll(async () => {
      if (connections === 1) await page.clock.fastForward(50_000)
      return connections
    })
    .toBeGreaterThan(1)
  await reply(page, 'The first half, and the second.').waitFor()
  await page.getByRole('button', { name: 'Stop the reply' }).waitFor({ state: 'detached' })
})

test('announces a page that loads slowly, then offers a reload', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  const released = Promise.withResolvers<void>()
  onTestFinished(() => released.resolve())
  await page.route(/\/notes-page[^/]*\.js/, async (route) => {
    await released.promise
    await route.fallback()
  })
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.clock.install()
  await page.getByRole('link', { name: 'Notes' }).click()
  await page.clock.fastForward(1000)
  await page.getByRole('heading', { name: 'Notes', exact: true }).waitFor()
  await page.getByText('Loading this page…').waitFor()
  await page.clock.fastForward(30_000)
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
  await page.getByRole('button', { name: 'Reload' }).waitFor()
  released.resolve()
  await page.getByRole('link', { name: 'New note' }).first().waitFor()
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor({ state: 'detached' })
})

test('times out an unanswered request and offers a retry', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  let isSilent = true
  await page.route('**/api/timers*', (route) => (isSilent ? undefined : route.fallback()))
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.clock.install()
  const requested = page.waitForRequest('**/api/timers*')
  await page.getByRole('link', { name: 'Reminders' }).click()
  await requested
  await page.clock.fastForward(31_000)
  await page.getByText('The service cannot be reached right now.').waitFor()
  isSilent = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('The service cannot be reached right now.').waitFor({ state: 'detached' })
})

test('reports a missing live connection when only the WebSocket fails', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/logs', expected: /WebSocket/ })
  let isForwarded = false
  await page.routeWebSocket(/\/chat/, (socket) =>
    isForwarded ? void socket.connectToServer() : socket.close(),
  )
  await page.goto('/')
  await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor()
  await page.getByRole('heading', { name: 'No live connection' }).waitFor()
  isForwarded = true
  await page.getByRole('button', { name: 'Try now' }).last().click()
  await page.getByRole('heading', { name: 'No live connection' }).waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Hello. I’m your delegate.' }).waitFor()
})
