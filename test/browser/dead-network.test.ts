import { expect, onTestFinished, test } from 'vitest'
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
