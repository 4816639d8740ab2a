// @module-tag long

import { expect, onTestFinished, test } from 'vitest'
import { createWaitingServer } from '../../src/http/waiting.ts'
import { createClient } from '../http/client.ts'
import { chatGptConversation, jsonList, over, upload, writeZip } from '../imports/exports.ts'
import { startWithTexts } from '../sms/sms-harness.ts'
import { startWholeService } from '../support/service.ts'
import { newId } from '../support/writer.ts'
import { pagePaths } from './app-source.ts'
import { useBrowser } from './browser.ts'
import { startHouse } from './house.ts'
import { startWithModel } from './model.ts'
import { openSearch, say, settled, visit } from './page.ts'
import { checkPseudo, checkTexts, dataOf, narrowPseudo, speakPseudo } from './pseudo.ts'
import { pointNumberElsewhere, scenes } from './scenes.ts'

const browser = useBrowser()
const context = narrowPseudo

test('every page has only texts of the catalogue, and fits 320 px with longer words', async () => {
  const { service, noteId } = await startHouse()
  const page = await visit(browser(), service, { context, expected: /status of 404/ })
  speakPseudo(page)
  const paths = pagePaths().filter((path) => !['/install', '/welcome', '/login'].includes(path))
  for (const path of [...paths, `/notes/${noteId}`, '/notes/none']) {
    await page.goto(path)
    await settled(page)
    await checkPseudo(page, path, await dataOf(service.client))
  }
  await page.goto('/logs')
  // The names of classes are no texts.
  await page.locator('.line.warn').first().waitFor()
  await page.goto('/nowhere')
  await page.getByText('Page not found').waitFor()
  await checkPseudo(page, 'not-found', '')
  await page.goto('/')
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('link', { name: 'Settings' }).waitFor()
  await checkPseudo(page, 'navigation', await dataOf(service.client))
})

test('unfolded steps have only texts of the catalogue, and fit 320 px', async () => {
  const { service, model } = await startWithModel()
  model.reply({ text: 'Good to know.' })
  await service.client.post('/api/chat', { content: 'I live in Porto.' })
  const page = await visit(browser(), service, { context })
  speakPseudo(page)
  await page.getByText('Good to know.').waitFor()
  await page.locator('.activity .fold').last().click()
  await page.locator('.step-row .fold').first().click()
  await page.locator('.step-row .fold[aria-expanded=true]').first().waitFor()
  await checkPseudo(page, 'unfolded', await dataOf(service.client))
})

test('what the service refuses is said in texts of the catalogue', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { context, expected: /status of (?:400|404|409|429|502)/ })
  const refusals = [
    ['GET', '/api/notes/none'],
    ['GET', '/api/timeline?before=nowhere'],
    ['GET', '/api/timeline/events/999999'],
    ['POST', '/api/notes', { title: 'Long', content: 'x'.repeat(1_000_001) }],
    ['POST', '/api/timers', { title: 'Late', at: '2001-01-01T00:00:00Z' }],
    ['POST', '/api/timers', { title: 'Never', recurrence: 'never' }],
    ['POST', '/api/timers', { title: 'Never' }],
    ['POST', '/api/calls/current/hangup', {}],
    ['POST', '/api/conversations/none/end', {}],
    ['POST', '/api/backups', {}],
    ['POST', '/api/session/context/compact', {}],
    ['PUT', '/api/config', { entries: { PUBLIC_URL: 'nowhere' } }],
    ['PUT', '/api/config', { entries: { TIMEZONE: 'Nowhere' } }],
    ['PUT', '/api/config', { entries: { OWNER_PHONE_NUMBER: '12' } }],
  ] as const
  const said = await page.evaluate(
    (all) =>
      Promise.all(
        all.map(async ([method, path, body]) => {
          const headers = { 'content-type': 'application/json' }
          const answer = await fetch(path, { method, ...(body && { headers, body: JSON.stringify(body) }) })
          const { status, detail = '', errors = [] } = await answer.json()
          return {
            path,
            status,
            texts: [detail, ...errors.map(({ message }: { message: string }) => message)],
          }
        }),
      ),
    refusals,
  )
  for (const { path, status, texts } of said) {
    expect.soft([path, status]).toEqual([path, expect.toSatisfy((code: number) => code >= 400)])
    // The name of the field stands before what is wrong with it.
    checkTexts(
      path,
      texts.map((text) => text.replace(/^[\w.]+:? (?=\[)/, '')),
      '',
    )
  }
})

test('notifications have only texts of the catalogue', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { context, worker: true, expected: /status of 404/ })
  await page.evaluate(() => navigator.serviceWorker.ready)
  // A page that shows the reminder marks it as seen.
  await page.addInitScript(() => Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' }))
  // The worker sees the pages from the next one on.
  await page.reload()
  await settled(page)
  const worker = page.context().serviceWorkers()[0] ?? (await page.context().waitForEvent('serviceworker'))
  // The headless shell from npm shows none, and ends a worker that sets a badge.
  await worker.evaluate(`
    self.shown = []
    navigator.setAppBadge = async () => undefined
    registration.showNotification = async (title, { body, actions = [], data }) => {
      shown.push(title, body, ...actions.map(({ title }) => title))
    }`)
  await service.client.post('/api/timers', { title: 'Water the plants', at: new Date().toISOString() })
  const unseen = async () => (await service.client.get('/api/notifications')).json.notifications
  await expect.poll(async () => (await unseen()).length).toBe(1)
  const [{ seq }] = await unseen()
  const kinds = ['reminder', 'task', 'confirmation', 'call', 'budget']
  // As a text: the types of workers and pages exclude each other.
  for (const push of [{ kind: 'reminder', seq }, ...kinds.map((kind) => ({ kind, seq: 999_999 }))])
    await worker.evaluate(`dispatchEvent(new PushEvent('push', { data: '${JSON.stringify(push)}' }))`)
  const shown = () => worker.evaluate<string[]>('shown')
  await expect.poll(async () => (await shown()).length).toBe(4 + 2 * kinds.length)
  checkTexts('notifications', await shown(), 'Water the plants')
})

test('every dialog has only texts of the catalogue, and fits 320 px with longer words', async () => {
  const house = await startHouse()
  await pointNumberElsewhere(house)
  const place = { ...house.service, origin: `http://localhost:${house.service.port}` }
  const page = await visit(browser(), place, { context, expected: /status of 403/ })
  speakPseudo(page)
  for (const { name, path, open } of scenes) {
    await page.goto(path)
    await settled(page)
    await open(page, house)
    await checkPseudo(page, name, await dataOf(house.service.client))
    // A dialog that is filled in asks for a second one.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await expect
      .poll(async () => [name, await page.getByRole('dialog').filter({ visible: true }).count()])
      .toEqual([name, 0])
  }
})

test('the pages before the timeline have only texts of the catalogue, and fit 320 px', async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false, context, expected: /status of 401/ })
  speakPseudo(page)
  const heading = (name: string) => page.getByRole('heading', { name, exact: true })
  const checked = async (name: string) => checkPseudo(page, name, '')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.locator('[aria-invalid=true]').first().waitFor()
  await checked('install')
  await page.getByLabel('Password', { exact: true }).fill('a long walk by the river')
  await page.getByRole('button', { name: 'Set up' }).click()
  await heading('Where are you?').waitFor()
  await checked('welcome-timezone')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Ollama' }).waitFor()
  await checked('welcome-services')
  await page.getByRole('button', { name: 'Ollama' }).click()
  await page.getByLabel('Address').fill('http://localhost:9/v1')
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByRole('list', { name: 'Test failed' }).waitFor()
  await checked('welcome-model')
  await page.getByRole('button', { name: 'Choose another' }).click()
  await page.getByRole('button', { name: 'Without a service for now' }).click()
  await heading('Connect a phone').waitFor()
  await checked('welcome-phone')
  await page.getByRole('button', { name: 'Not now' }).click()
  await page.getByRole('button', { name: 'Remember that I take my coffee black' }).waitFor()
  await checked('welcome-message')
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.goto('/login')
  await heading('Welcome back').waitFor()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('[aria-invalid=true]').first().waitFor()
  await checked('login')
  await page.getByLabel('Password').fill('another')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Wrong password. Try again.').waitFor()
  await checked('login-wrong')
})

test('failures, proposals and notices have only texts of the catalogue, and fit 320 px', async () => {
  // Not the whole house, whose activations would take the scripted replies.
  const { service, text: model } = await startWithTexts()
  const page = await visit(browser(), service, { context })
  speakPseudo(page)
  const checked = async (name: string) => checkPseudo(page, name, await dataOf(service.client))
  model.reply({ refusal: 'No.' })
  await say(page, 'Tell me a secret')
  await page.locator('.failure').waitFor()
  await checked('failure')
  model.reply(
    { toolCalls: [{ name: 'send_sms', arguments: { to: '+14155550177', text: 'Ten minutes late.' } }] },
    { text: 'It waits for your word.' },
  )
  await say(page, 'Tell Mira that I am ten minutes late: +14155550177')
  await page.getByRole('button', { name: 'Send text' }).waitFor()
  await checked('proposal')
  await page.getByRole('button', { name: 'Do not send' }).click()
  await page.getByText('You declined:').waitFor()
  await service.client.post('/api/timers', { title: 'Stretch', at: new Date().toISOString() })
  await page.getByRole('button', { name: 'Dismiss' }).waitFor()
  await checked('reminder')
  await page.getByRole('button', { name: 'Halt', exact: true }).click()
  await page.getByText('Halt Delegate?').waitFor()
  await checked('halt')
  await page.locator('dg-confirm-dialog').getByRole('button', { name: 'Halt', exact: true }).click()
  await page.getByRole('button', { name: 'Release…' }).first().waitFor()
  await checked('halted')
  await openSearch(page)
  await page.keyboard.type('nothing has these words')
  await page.getByText('No results for').waitFor()
  await checked('search-empty')
})

test('the page of a standby has only texts of the catalogue, and fits 320 px', async () => {
  const listening = Promise.withResolvers<number>()
  const standby = createWaitingServer({
    ...{ port: 0, host: '127.0.0.1', newId, metricsToken: null },
    onListening: listening.resolve,
  })
  onTestFinished(standby.close)
  standby.showStandby({
    ...{ mode: 'commit', role: 'standby', node: 'two', holder: 'one', epoch: 3 },
    ...{ lag: 0, behindSince: null, fault: null },
  })
  const port = await listening.promise
  const place = { origin: `http://127.0.0.1:${port}`, client: createClient(port), setupCode: null }
  const page = await visit(browser(), place, { path: '/', signedIn: false, context, expected: /503/ })
  speakPseudo(page)
  await page.getByText('This machine is a standby. It takes over if the other one stops.').waitFor()
  await checkPseudo(page, 'standby', '')
})

const TALKS = [
  {
    id: 'moving',
    title: 'Moving to the coast',
    texts: [
      'My sister lives in Porto. What is the city like?',
      '**Porto** is hilly.',
      'My favourite colour is teal.',
    ],
  },
  { id: 'bread', title: 'Sourdough', texts: ['Why is my bread dense?', 'It needs more time.'] },
]
const chatGptZip = () =>
  writeZip('chatgpt-export.zip', { 'conversations.json': () => jsonList(TALKS.map(chatGptConversation)) })

test('imports, downloads and memories from imports have only texts of the catalogue, and fit 320 px', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { context, path: '/data' })
  speakPseudo(page)
  const checked = async (name: string) => checkPseudo(page, name, await dataOf(service.client))
  const imports = page.getByRole('list', { name: 'Imports' })
  for (const state of ['data-imported', 'data-imported-again']) {
    await page.locator('input[type=file]').setInputFiles(await chatGptZip())
    await expect.poll(() => imports.getByRole('listitem').count()).toBe(state === 'data-imported' ? 1 : 2)
    await imports.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' })
    await checked(state)
  }
  const broken = await writeZip('holiday.zip', { 'photo.json': () => ['{}'] })
  await page.locator('input[type=file]').setInputFiles(broken)
  await page.getByText('No conversations in it.').waitFor()
  await page.getByRole('button', { name: 'Export everything' }).click()
  await page.getByRole('link', { name: 'Save the file' }).waitFor()
  await checked('data-downloads')

  await page.goto('/imported')
  await page.getByRole('checkbox').first().check()
  await page.getByRole('button', { name: 'More for Sourdough' }).click()
  await checked('imported-selected')
  await page.getByRole('menuitem', { name: 'Look for memories…' }).click()
  await page.getByText('What it finds becomes a memory only if you keep it.').waitFor()
  await checked('imported-cost-of-rules')
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox').fill('nothing has these words')
  await page.getByRole('heading', { name: 'No matching conversations' }).waitFor()
  await checked('imported-none')
  await page.goto('/imported')
  await page.getByRole('link', { name: 'Moving to the coast' }).click()
  await page.locator('strong', { hasText: 'Porto' }).waitFor()
  await checked('conversation')
  await page.getByRole('button', { name: 'Erase' }).click()
  await page.getByText('Will be erased').waitFor()
  await checked('conversation-erase')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Look for memories' }).click()
  await page.locator('dg-confirm-dialog').getByRole('button', { name: 'Look for memories' }).click()
  await page.getByRole('list', { name: 'Found memories' }).getByRole('listitem').nth(1).waitFor()
  await page.getByRole('button', { name: 'Select all' }).click()
  await checked('candidates')
  await page.getByRole('button', { name: 'Drop' }).click()
  await page.getByRole('heading', { name: 'Nothing to decide on' }).waitFor()
  await checked('candidates-none')
  await page.goto('/')
  await openSearch(page)
  await page.keyboard.type('hilly')
  await page.getByRole('list', { name: 'Imported conversations' }).waitFor()
  await checked('search-imported')
})

test('what a search for memories costs with a model has only texts of the catalogue, and fits 320 px', async () => {
  const { service } = await startWithModel()
  await over(service, await upload(service, await chatGptZip()))
  const page = await visit(browser(), service, { context, path: '/imported' })
  speakPseudo(page)
  await page.getByRole('button', { name: 'More for Sourdough' }).click()
  await page.getByRole('menuitem', { name: 'Look for memories…' }).click()
  await page.getByText('What it finds becomes a memory only if you keep it.').waitFor()
  await checkPseudo(page, 'imported-cost-of-model', await dataOf(service.client))
})
