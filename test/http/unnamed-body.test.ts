import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { createClient } from './client.ts'

test('refuses a body without Content-Type with 400', async () => {
  const { client, port } = await startWholeService()
  const note = (await client.post('/api/notes', { title: 'Tea', content: 'Green.' })).json
  await client.post('/api/adaptations/tone', { content: 'Be brief.' })
  const before = (await client.get('/memory-config')).json
  for (const headers of [{}, { 'content-type': '' }]) {
    const send = (method: string, path: string, body: object) =>
      client.send(method, path, JSON.stringify(body), { headers })
    const refused = await Promise.all([
      send('PUT', '/memory-config', { contextTurns: before.contextTurns + 1 }),
      send('POST', '/api/adaptations/tone', { enabled: false }),
      send('PUT', `/api/notes/${note.id}`, { title: 'Coffee' }),
      send('POST', '/api/tasks/none/retry', { what: 'delivery' }),
      send('POST', '/api/notes', { content: 'Black.' }),
    ])
    expect(refused.map(({ status, json }) => [status, json.code])).toEqual(
      refused.map(() => [400, 'unsupported_media_type']),
    )
  }
  expect((await client.get('/memory-config')).json).toEqual(before)
  expect((await client.get('/api/adaptations/tone')).json.enabled).toBe(true)
  // Routes without a body ignore it, and webhooks are checked by their signature.
  expect((await client.send('POST', '/api/adaptations.reload', 'anything')).status).toBe(200)
  const webhook = await createClient(port).send('POST', '/sms', 'MessageSid=SM1&From=%2B1&Body=hi')
  expect([webhook.status, webhook.json.code]).toEqual([403, 'telephony_not_configured'])
})
