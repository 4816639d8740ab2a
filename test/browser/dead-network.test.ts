import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { composer, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

test('over a connection that is dead without a word, what was said goes out once over another', async () => {
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

test('a reply that stops coming because the connection died goes on over another', async () => {
  const { service, model } = await startWithModel()
  const goOn = Promise.withResolvers<void>()
  model.reply({ text: ['The first half,', ' and the second.'], pause: { at: 3, until: goOn.promise } })
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
  goOn.resolve()
  await expect.poll(async () => (await service.client.get('/api/timeline')).text).toContain('and the second.')
  await expect
    .poll(async () => {
      await page.clock.fastForward(50_000)
      return reply(page, 'The first half, and the second.').count()
    })
    .toBe(1)
  await page.getByRole('button', { name: 'Stop the reply' }).waitFor({ state: 'detached' })
})
