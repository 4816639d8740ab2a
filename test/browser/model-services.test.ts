import { expect, onTestFinished, test } from 'vitest'
import { type ModelDouble, type ModelDoubleOptions, startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { PASSWORD, startWholeService, type WholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { choose, composer, inFocus, reply, say, visit } from './page.ts'

const browser = useBrowser()

/** A server that speaks and answers like Ollama. */
async function startOllama(text: string, options: ModelDoubleOptions = {}): Promise<ModelDouble> {
  const ollama = await startModelDouble({
    validate: false,
    dialect: 'ollama',
    lacks: ['/responses', '/responses/compact', '/embeddings'],
    models: ['qwen3:8b', 'nomic-embed-text:latest', 'llama3.2:3b'],
    ...options,
  })
  onTestFinished(() => ollama.close())
  ollama.answerWith(() => ({ text }))
  return ollama
}

/** The model that answered last. */
const answeredBy = (model: ModelDouble, path?: string) => turnRequests(model, path).at(-1)?.body.model
const COMPLETIONS = '/chat/completions'

async function addService(service: WholeService, id: string, title: string, address: string): Promise<void> {
  const body = { kind: 'other', title, baseUrl: address }
  const answer = await service.client.put(`/api/services/${id}`, body)
  expect([answer.text, answer.status]).toEqual([answer.text, 200])
}

test('sets up a local server from the wizard alone, and says what to do if nothing answers', async () => {
  const ollama = await startOllama('Hello from your own machine.')
  const stopped = await startModelDouble()
  await stopped.close()
  const deserted = stopped.url.replace('127.0.0.1', 'localhost')
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false })
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Ollama/ }).waitFor()
  await page.getByRole('button', { name: /^Ollama/ }).click()
  const address = inFocus(page.getByLabel('Address'))
  await address.waitFor()
  expect(await address.inputValue()).toBe('http://localhost:11434/v1')
  await address.fill(deserted)
  await page.keyboard.press('Enter')
  await page.getByText(`Nothing answers at ${new URL(deserted).origin}. Is Ollama running?`).waitFor()
  await page.getByText('If Delegate runs in a container').waitFor()
  await checkLooks(page, 'welcome-model-fails')

  await page.getByLabel('Address').fill(ollama.url)
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByRole('list', { name: 'Test passed' }).waitFor()
  await page.getByRole('list', { name: 'What it can do' }).waitFor()
  await inFocus(page.getByRole('radio', { name: 'qwen3:8b', checked: true })).waitFor()
  await checkLooks(page, 'welcome-model-tested')
  await page.getByRole('radio', { name: 'llama3.2:3b' }).check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Not now' }).click()
  await page.getByRole('button', { name: 'What can you do for me?' }).click()
  await page.getByText('Hello from your own machine.').waitFor()
  expect(answeredBy(ollama, COMPLETIONS)).toBe('llama3.2:3b')
})

test('adds a service, gives it the background work, and removes it only once it is unused', {
  tags: ['long'],
}, async () => {
  const { service } = await startWithModel()
  const ollama = await startOllama('Yes.')
  const page = await visit(browser(), service, {
    path: '/settings#model',
    expected: /status of 409/,
    slowTimers: true,
  })
  const services = page.getByRole('list', { name: 'Services' })
  await page.getByRole('button', { name: 'Add a service' }).click()
  const dialog = page.locator('dg-service-dialog')
  await dialog.getByLabel('Service', { exact: true }).selectOption('Ollama')
  await dialog.getByLabel('Name').fill('The attic')
  await dialog.getByLabel('Address').fill(ollama.url)
  await dialog.getByRole('button', { name: 'Test the connection' }).click()
  await dialog.getByRole('list', { name: 'Test passed' }).waitFor()
  await checkLooks(page, 'service-add')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await services.getByText('The attic').waitFor()

  const background = page.getByRole('row', { name: /^Background work/ })
  await background.getByRole('button', { name: 'Change' }).click()
  const use = page.locator('dg-choose-model-dialog')
  await use.getByLabel('Service', { exact: true }).selectOption('The attic')
  await use.getByRole('button', { name: 'Save' }).click()
  await use.getByText('Choose a model.').waitFor()
  await use.getByRole('radio', { name: 'qwen3:8b' }).check()
  await checkLooks(page, 'use-change')
  await use.getByRole('button', { name: 'Save' }).click()
  await background.getByText('qwen3:8b').waitFor()
  const { uses } = (await service.client.get('/api/services')).json
  expect(uses).toContainEqual({ use: 'utility', service: 'the-attic', model: 'qwen3:8b', available: true })
  const toasts = page.getByRole('button', { name: 'Dismiss' })
  while ((await toasts.count()) > 0) await toasts.first().click()
  await checkLooks(page, 'model-services')
  await checkLooks(page, 'model-uses', page.getByRole('row', { name: /^Reading aloud/ }))

  await page.getByRole('button', { name: 'Remove The attic' }).click()
  const confirm = page.locator('dg-confirm-dialog')
  await confirm.getByRole('button', { name: 'Remove' }).click()
  await confirm
    .getByRole('alert')
    .getByText(/used for|names this service/)
    .waitFor()
  await confirm.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Reset Background work' }).click()
  await background.getByText('The attic').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove The attic' }).click()
  await confirm.getByRole('button', { name: 'Remove' }).click()
  await services.getByText('The attic').waitFor({ state: 'detached' })
})

test('leaves the chat to the builtin model if no model of the first service is chosen', async () => {
  const ollama = await startOllama('Yes.')
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/settings#model' })
  await page.getByRole('button', { name: 'Add a service' }).click()
  await page.getByLabel('Service', { exact: true }).selectOption('Ollama')
  await page.getByLabel('Address', { exact: true }).fill(ollama.url)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.locator('dg-choose-model-dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('row', { name: /^Chat.*Set here.*builtin-1/ }).waitFor()
  const { uses } = (await service.client.get('/api/services')).json
  expect(uses[0]).toEqual({ use: 'chat', service: 'builtin', model: 'builtin-1', available: true })
})

test('makes the first service of the settings that of the chat, even if its models cannot be listed at first', {
  tags: ['long'],
}, async () => {
  const ollama = await startOllama('Yes.')
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/settings#model', expected: /status of 500/ })
  await page.getByText('None yet. The builtin model replies.').waitFor()
  await page.getByRole('row', { name: /^Chat.*Builtin.*builtin-1/ }).waitFor()
  // There is no model to choose from before there is a service.
  await page.getByRole('button', { name: 'Change the model for Background work' }).click()
  await page.getByRole('heading', { name: 'Add a service' }).waitFor()
  await page.getByLabel('Service', { exact: true }).selectOption('Ollama')
  await page.getByLabel('Address', { exact: true }).fill(ollama.url)
  await page.route('**/api/services/*/models', (route) => route.fulfill({ status: 500, body: '{}' }), {
    times: 1,
  })
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const dialog = page.locator('dg-choose-model-dialog')
  await dialog.getByText('status 500').waitFor()
  await dialog.getByLabel('Model', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await dialog.getByRole('radio', { name: 'qwen3:8b', checked: true }).waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  const chat = page.getByRole('row', { name: /^Chat/ })
  await chat.getByText('qwen3:8b').waitFor()
  await service.client.post('/api/chat', { content: 'Who answers?' })
  expect(answeredBy(ollama, COMPLETIONS)).toBe('qwen3:8b')

  await chat.getByRole('button', { name: 'Change' }).click()
  await page.getByRole('heading', { name: 'Model: Chat' }).waitFor()
  await page.getByLabel('Service', { exact: true }).selectOption('Builtin')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await chat.getByText('builtin-1').waitFor()
  const { uses } = (await service.client.get('/api/services')).json
  expect(uses[0]).toEqual({ use: 'chat', service: 'builtin', model: 'builtin-1', available: true })
})

test('orders the fallback by keyboard, and shows in the reply which model failed', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel({ models: ['test-model', 'second-model'] })
  const ollama = await startOllama('I stepped in.')
  await addService(service, 'attic', 'The attic', ollama.url)
  const page = await visit(browser(), service, { path: '/settings#model', slowTimers: true })
  const add = async (title: string, name?: string) => {
    await page.getByRole('button', { name: 'Add a model' }).click()
    await page.getByLabel('Service', { exact: true }).selectOption(title)
    if (name) await page.getByRole('radio', { name }).check()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await page.getByText('None. If the chat model fails').waitFor()
  await add('Builtin')
  await add('The attic', 'qwen3:8b')
  const items = page.getByRole('list', { name: 'Models to try, in order' }).getByRole('listitem')
  const order = async () => (await items.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())
  await expect.poll(order).toEqual(['Builtin model', 'qwen3:8b The attic'])
  await page.getByRole('button', { name: 'Move up qwen3:8b' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(order).toEqual(['qwen3:8b The attic', 'Builtin model'])
  // It is first now, so that it can only move down.
  await inFocus(page.getByRole('button', { name: 'Move down qwen3:8b' })).waitFor()
  const { fallback } = (await service.client.get('/api/services')).json
  expect(fallback).toEqual([
    { service: 'attic', model: 'qwen3:8b' },
    { service: 'builtin', model: 'builtin-1' },
  ])
  await checkLooks(page, 'fallback', page.getByRole('button', { name: 'Add a model' }))

  model.answerWith(() => ({ fault: { kind: 'status', status: 401, body: {} } }))
  await page.goto('/')
  await say(page, 'Is anybody there?')
  const answer = reply(page, 'I stepped in.')
  await answer.waitFor()
  await choose(answer, 'Why this reply')
  await page.getByText('Answered by qwen3:8b').waitFor()
  await page.getByText(/test-model.* did not answer: /).waitFor()
  await checkLooks(page, 'why-fallback')
})

test('asks another model for one message only', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'The usual answer.' }))
  const ollama = await startOllama('An answer from the attic.')
  const page = await visit(browser(), service)
  const button = page.getByRole('button', { name: 'Choose the model for the next message' })
  await composer(page).waitFor()
  await addService(service, 'attic', 'The attic', ollama.url)
  await button.click()
  await page.getByLabel('Service', { exact: true }).selectOption('The attic')
  await page.getByRole('radio', { name: 'qwen3:8b' }).check()
  await checkLooks(page, 'next-model-choose')
  await page.getByRole('button', { name: 'Choose', exact: true }).click()
  await page.getByText('Next message: qwen3:8b · The attic').waitFor()
  await inFocus(composer(page)).waitFor()
  await checkLooks(page, 'next-model')
  await page.getByRole('button', { name: 'Use the model of the settings' }).click()
  await page.getByText('qwen3:8b · The attic').waitFor({ state: 'detached' })
  await say(page, 'Who is it?')
  await reply(page, 'The usual answer.').waitFor()

  await button.click()
  await page.getByLabel('Service', { exact: true }).selectOption('The attic')
  await page.getByRole('radio', { name: 'llama3.2:3b' }).check()
  await page.getByRole('button', { name: 'Choose', exact: true }).click()
  // The choice survives a reload, like the text.
  await page.reload()
  await page.getByText('llama3.2:3b · The attic').waitFor()
  await say(page, 'And now?')
  await reply(page, 'An answer from the attic.').waitFor()
  expect(answeredBy(ollama, COMPLETIONS)).toBe('llama3.2:3b')
  expect(await page.getByText('llama3.2:3b · The attic').count()).toBe(0)
  await say(page, 'And after that?')
  await expect.poll(() => reply(page, 'The usual answer.').count()).toBe(2)
  expect(answeredBy(model)).toBe('test-model')
})

test('offers no choice of a model where there is only one, and takes its name where none are listed', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  const page = await visit(browser(), service)
  const listed = page.waitForResponse('**/api/services/main/models')
  await composer(page).fill('Hello')
  await listed
  expect(await page.getByRole('button', { name: 'Choose the model for the next message' }).count()).toBe(0)
  const bare = await startOllama('Bare.', { lacks: ['/responses', '/models'] })
  await addService(service, 'bare', 'Bare', bare.url)
  await page.getByRole('button', { name: 'Choose the model for the next message' }).click()
  await page.getByLabel('Service', { exact: true }).selectOption('Bare')
  await page.getByLabel('Model', { exact: true }).fill('any-model')
  await page.getByRole('button', { name: 'Choose', exact: true }).click()
  await say(page, 'Hello')
  await reply(page, 'Bare.').waitFor()
  expect(answeredBy(bare, COMPLETIONS)).toBe('any-model')
  expect(turnRequests(model)).toHaveLength(0)
})
