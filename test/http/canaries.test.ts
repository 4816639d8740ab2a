import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startWithModel } from '../browser/model.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { openTab } from '../support/chat-tab.ts'

const canaries = {
  OPENAI_API_KEY: 'canary-openai-1f3a',
  TELEPHONY_AUTH_TOKEN: 'canary-token-2b4c',
  TELEPHONY_API_KEY_SECRET: 'canary-secret-3d5e',
  DELIVERY_WEBHOOK_SECRET: 'canary-webhook-4f6a',
}

const SERVICE_KEY = 'canary-service-5b7d'

/** Set together with the keys, because they are not sent to another address. */
const UNREACHABLE = { TELEPHONY_API_BASE_URL: 'http://127.0.0.1:9' }

function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true })
    .map((name) => join(directory, String(name)))
    .filter((path) => statSync(path).isFile())
}

test('keeps secrets out of every response, socket, log, page, prompt and file, whatever fails', async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'I see.' }))
  const { client } = service
  const tab = await openTab(service)
  const seen: string[] = []
  const note = (text: string) => void seen.push(text)
  note((await client.put('/api/config', { entries: { ...canaries, ...UNREACHABLE } })).text)
  await client.put('/api/config', {
    entries: {
      TELEPHONY_ACCOUNT_SID: 'AC1',
      TELEPHONY_PHONE_NUMBER: '+14155550111',
      PUBLIC_URL: 'https://delegate.example.com',
    },
  })

  // Another service quotes its key, and then answers.
  const second = { kind: 'other', title: 'Second', baseUrl: model.url, apiKey: SERVICE_KEY }
  note((await client.put('/api/services/second', second)).text)
  model.replyTo('/models', { fault: httpFaults.unauthorised(SERVICE_KEY) })
  note((await client.get('/api/services/second/models')).text)
  model.replyTo('/models', { fault: httpFaults.unauthorised(SERVICE_KEY) })
  note((await client.post('/api/services/test', { id: 'second' })).text)
  model.reply({ fault: httpFaults.unauthorised(SERVICE_KEY) })
  const chosen = { content: 'Hello', model: { service: 'second', model: 'm' } }
  note((await client.post('/api/chat', chosen)).text)

  model.reply({ text: 'Hello.' })
  note((await client.post('/api/chat', { content: 'Hello' })).text)
  // The provider quotes the key.
  model.reply({ fault: httpFaults.unauthorised(canaries.OPENAI_API_KEY) })
  note((await client.post('/api/chat', { content: 'And now?' })).text)
  model.replyToCompaction({ fault: httpFaults.unauthorised(canaries.OPENAI_API_KEY) })
  note((await client.post('/api/session/context/compact')).text)
  for (const name of ['model', 'telephony'])
    note((await client.post('/api/config.test', { service: name })).text)
  const pointed = await client.post('/api/telephony/number/point')
  expect(pointed.status).toBe(502)
  note(pointed.text)
  note((await client.put('/api/config', { entries: { ...canaries, TIMEZONE: 'Nowhere/Atlantis' } })).text)

  const { paths } = (await client.get('/openapi.json')).json
  const plain = Object.keys(paths).filter((path) => paths[path].get && !/[{]|stream$/.test(path))
  expect(plain.length).toBeGreaterThan(20)
  for (const path of [
    ...plain,
    '/openapi.json',
    '/docs',
    '/',
    '/settings',
    '/logs.html',
    '/api/logs?limit=2000&level=trace',
  ])
    note((await client.get(path)).text)
  note(JSON.stringify(tab.heard))
  note(service.written.join(''))
  for (const request of model.requests()) note(JSON.stringify(request.body))
  await service.stop()
  for (const file of filesOf(service.directory)) note(readFileSync(file, 'latin1'))
  const all = seen.join('\n')
  // Also as they are sent: the provider's API takes both in one header.
  const signIn = Buffer.from(`AC1:${canaries.TELEPHONY_AUTH_TOKEN}`).toString('base64')
  for (const canary of [...Object.values(canaries), SERVICE_KEY, signIn])
    expect([canary, all.includes(canary)]).toEqual([canary, false])
  // Proves that they were in use: the double was called with the keys.
  const used = JSON.stringify(model.requests().map(({ headers }) => headers.authorization))
  for (const key of [canaries.OPENAI_API_KEY, SERVICE_KEY]) expect(used).toContain(key)
})

test('hides a secret that a tool reads from the model and the ledger', async () => {
  const { service, model } = await startWithModel()
  const { client } = service
  await client.put('/api/config', { entries: canaries })
  const content = `The webhook is signed with ${canaries.DELIVERY_WEBHOOK_SECRET}, the friend's with canary-of-a-friend.`
  const { id } = (await client.post('/api/notes', { title: 'Keys', content })).json
  model.reply({ toolCalls: [{ name: 'read_note', arguments: { query: 'Keys' } }] })
  model.answerWith(() => ({ text: 'I have read it.' }))
  const { turnId } = (await client.post('/api/chat', { content: 'Read my note about keys.' })).json
  const { tools } = (await client.get(`/api/turns/${turnId}`)).json
  expect(tools[0].result).toContain("signed with [redacted], the friend's with canary-of-a-friend")
  const sent = JSON.stringify(model.requests().map(({ body }) => body))
  expect(sent).toContain('canary-of-a-friend')
  expect(sent).not.toContain(canaries.DELIVERY_WEBHOOK_SECRET)
  // The owner's words stay unchanged.
  expect((await client.get(`/api/notes/${id}`)).json.content).toBe(content)
})

test('logs no conversation at level info or above, whatever fails', async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'I see.' }))
  const { client } = service
  const canary = 'the heron at the harbour 77'
  model.reply({ text: `So: ${canary}.` })
  await client.post('/api/chat', { content: `Remember ${canary}` })
  for (const fault of [httpFaults.unauthorised(), httpFaults.serverError(), httpFaults.contextTooLong()]) {
    model.reply({ fault })
    await client.post('/api/chat', { content: `Again, ${canary}` })
  }
  await client.post('/api/notes', { title: canary, content: canary })
  await client.get(`/api/timeline/search?q=${encodeURIComponent(canary)}`)
  await client.post('/api/timers', { title: canary, at: 'never' })
  await client.post('/api/tasks', { title: canary, prompt: canary })
  const { lines } = (await client.get('/api/logs?limit=2000&level=info')).json
  expect(JSON.stringify(lines)).not.toContain('heron')
  const written = service.written.filter((line) => !/"level":"(debug|trace)"/.test(line)).join('')
  expect(written).not.toContain('heron')
})
