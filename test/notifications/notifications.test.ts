import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import type { Fault } from '../doubles/telephony/telephony-double.ts'
import { OWNER } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import {
  PASSWORD,
  startWholeService,
  type WholeService,
  type WholeServiceOptions,
} from '../support/service.ts'
import { ASSISTANT, startProvider } from '../tasks/task-harness.ts'
import { newBrowser, startPushService, vapidClaims } from './push-service.ts'

const soon = () => new Date(Date.now() + 300).toISOString()

async function startNotifying(options: WholeServiceOptions = {}) {
  const push = await startPushService()
  const service = await startWholeService({
    waits: { openPageMs: 100 },
    pushConnect: push.connect,
    ...options,
  })
  return { push, ...service }
}

async function subscribe({ client }: Pick<WholeService, 'client'>, origin: string, kinds?: string[]) {
  const browser = newBrowser()
  await client.post('/api/push/key')
  const endpoint = `${origin}/push/${browser.keys.auth}`
  const { status, json } = await client.put('/api/push', {
    endpoint,
    keys: browser.keys,
    ...(kinds && { kinds }),
  })
  expect(status).toBe(200)
  return { ...browser, endpoint, id: String(json.id) }
}

const remind = ({ client }: Pick<WholeService, 'client'>, title: string) =>
  client.post('/api/timers', { title, at: soon() })

const unseen = async ({ client }: Pick<WholeService, 'client'>) =>
  (await client.get('/api/notifications')).json.notifications

async function typesOf({ client }: Pick<WholeService, 'client'>): Promise<string[]> {
  const { events } = (await client.get('/api/timeline?limit=5000')).json
  return events.map(({ type }: { type: string }) => type)
}

test('pushes a due reminder, encrypted for the browser and without words, which the browser then asks for', async () => {
  const service = await startNotifying()
  const browser = await subscribe(service, service.push.origin)
  await remind(service, 'Water the plants')
  await expect.poll(() => service.push.pushed.length).toBe(1)
  const [{ path, headers, body }] = service.push.pushed as [(typeof service.push.pushed)[0]]
  expect(`${service.push.origin}${path}`).toBe(browser.endpoint)
  const payload = JSON.parse(browser.decrypt(body))
  expect(payload).toEqual({ kind: 'reminder', seq: expect.any(Number) })
  expect(headers).toMatchObject({
    'content-encoding': 'aes128gcm',
    ttl: '86400',
    urgency: 'high',
    topic: `n${payload.seq}`,
  })
  const { publicKey } = (await service.client.get('/api/push')).json
  expect(vapidClaims(String(headers.authorization))).toMatchObject({
    key: publicKey,
    claims: { aud: service.push.origin, sub: 'mailto:owner@delegate.invalid' },
  })
  expect((await service.client.get(`/api/notifications/${payload.seq}`)).json).toMatchObject({
    kind: 'reminder',
    title: 'Reminder',
    text: 'Water the plants',
  })
  await expect.poll(() => typesOf(service)).toContain('delivery.succeeded')
  expect(service.push.pushed).toHaveLength(1)
})

test('pushes nothing that an open page has shown', async () => {
  const service = await startNotifying({ waits: { openPageMs: 600 } })
  await subscribe(service, service.push.origin)
  await remind(service, 'Tea')
  await expect.poll(async () => (await unseen(service)).length).toBe(1)
  const [{ seq }] = await unseen(service)
  await service.client.post('/api/notifications/seen', { seqs: [seq] })
  expect(await unseen(service)).toEqual([])
  await remind(service, 'Coffee')
  await expect.poll(() => service.push.pushed.length).toBe(1)
  const types = await typesOf(service)
  expect(types.filter((type) => type === 'delivery.requested')).toHaveLength(1)
  expect(types.filter((type) => type === 'notification.seen')).toHaveLength(1)
})

test('tells each browser only what it wants to know, and stops when it is switched off', async () => {
  const service = await startNotifying()
  const all = await subscribe(service, service.push.origin)
  const none = await subscribe(service, service.push.origin, [])
  const off = await subscribe(service, service.push.origin)
  expect((await service.client.delete(`/api/push/${off.id}`)).status).toBe(204)
  await remind(service, 'Tea')
  await expect.poll(() => service.push.pushed.length).toBe(1)
  expect(`${service.push.origin}${service.push.pushed[0]?.path}`).toBe(all.endpoint)
  expect((await service.client.put(`/api/push/${none.id}`, { kinds: ['reminder'] })).status).toBe(204)
  await remind(service, 'Coffee')
  await expect.poll(() => service.push.pushed.length).toBe(3)
  const { subscriptions } = (await service.client.get('/api/push')).json
  expect(subscriptions.map(({ id, current }: { id: string; current: boolean }) => [id, current])).toEqual([
    [all.id, true],
    [none.id, true],
  ])
})

test('removes a subscription that its push service no longer knows', async () => {
  const service = await startNotifying()
  await subscribe(service, service.push.origin)
  service.push.status = 410
  await remind(service, 'Tea')
  await expect.poll(async () => (await service.client.get('/api/push')).json.subscriptions).toEqual([])
  await expect.poll(() => typesOf(service)).toContain('push.unsubscribed')
  expect((await unseen(service)).length).toBe(1)
})

test('a subscription ends with its session', async () => {
  const service = await startNotifying()
  await subscribe(service, service.push.origin)
  await service.client.post('/logout')
  await service.client.post('/login', { password: 'a long walk by the river' })
  expect((await service.client.get('/api/push')).json.subscriptions).toEqual([])
})

test('refuses endpoints that are not https or not public, and connects to no private address', async () => {
  const service = await startWholeService({
    waits: { openPageMs: 50 },
    outboundPauses: { firstRetryMs: 20, lookUpAfterMs: [] },
  })
  const { keys } = newBrowser()
  for (const endpoint of [
    'http://push.example/1',
    'https://127.0.0.1/1',
    'https://[::1]/1',
    'https://192.168.1.1/1',
    'https://[::ffff:10.0.0.1]/',
  ])
    expect([endpoint, (await service.client.put('/api/push', { endpoint, keys })).status]).toEqual([
      endpoint,
      400,
    ])
  await service.client.post('/api/push/key')
  // Its address is only known when it is connected to.
  await service.client.put('/api/push', { endpoint: `https://localhost:${service.port}/`, keys })
  await remind(service, 'Tea')
  await expect.poll(() => typesOf(service)).toContain('delivery.failed')
  const { events } = (await service.client.get('/api/timeline?limit=5000')).json
  const failures = events.filter(({ type }: { type: string }) => type === 'delivery.failed')
  expect(failures).toEqual([expect.objectContaining({ payload: expect.objectContaining({ final: true }) })])
})

test('repeats a push that failed for now, and one that a crash cut off', async () => {
  const directory = testDirectory()
  const outboundPauses = { firstRetryMs: 20, lookUpAfterMs: [] }
  const service = await startNotifying({ directory, outboundPauses })
  await subscribe(service, service.push.origin)
  service.push.status = 503
  await remind(service, 'Tea')
  await expect.poll(() => service.push.pushed.length).toBeGreaterThan(1)
  service.push.status = 201
  await expect.poll(() => typesOf(service)).toContain('delivery.succeeded')
})

test('texts a reminder that nobody has seen, once, and no other notification', async () => {
  const { double: provider, environment } = await startProvider()
  let aheadMs = 0
  const service = await startNotifying({ environment, nowMs: () => Date.now() + aheadMs })
  await remind(service, 'Tea')
  await expect.poll(async () => (await unseen(service)).length).toBe(1)
  const [{ seq }] = await unseen(service)
  await service.client.post('/api/notifications/seen', { seqs: [seq] })
  await remind(service, 'Coffee')
  await expect.poll(async () => (await unseen(service)).length).toBe(1)
  expect(provider.messages).toEqual([])
  aheadMs = 15 * 60_000
  // Any fact of its area wakes the notifier, as the minutes would.
  const later = new Date(Date.now() + 2 * aheadMs).toISOString()
  await service.client.post('/api/timers', { title: 'Later', at: later })
  await expect
    .poll(() => provider.messages.map(({ to, body }) => [to, body]))
    .toEqual([[OWNER, 'Reminder: Coffee']])
})

const DOWN: Fault = { type: 'refuse', status: 503, code: 20503 }

test.each([
  { title: 'ticked off during a halt', waits: 'halt', ends: 'done' },
  { title: 'an hour late after a halt', waits: 'halt', ends: 'late' },
  { title: 'ticked off during an outage', waits: 'outage', ends: 'done' },
  { title: 'an hour late after an outage', waits: 'outage', ends: 'late' },
] as const)('texts no reminder that is $title', async ({ waits, ends }) => {
  const { double: provider, environment } = await startProvider()
  let aheadMs = 0
  const { client } = await startWholeService({
    environment,
    nowMs: () => Date.now() + aheadMs,
    outboundPauses: { firstRetryMs: 20, lookUpAfterMs: [] },
  })
  const wake = () =>
    client.post('/api/timers', { title: 'Later', at: new Date(Date.now() + 9e7).toISOString() })
  const timer = (await remind({ client }, 'Tea')).json
  await expect.poll(async () => (await unseen({ client })).length).toBe(1)
  if (waits === 'halt') await client.post('/api/halt')
  else provider.setOutage(DOWN)
  aheadMs = 15 * 60_000
  await wake()
  const waiting = waits === 'halt' ? 'delivery.requested' : 'delivery.failed'
  await expect.poll(() => typesOf({ client })).toContain(waiting)

  if (ends === 'done') expect((await client.post(`/api/timers/${timer.id}/done`)).status).toBe(204)
  else aheadMs += 61 * 60_000
  if (waits === 'halt')
    expect((await client.post('/api/halt/release', { password: PASSWORD })).status).toBe(200)
  await wake()
  const lastEnd = async () => {
    const { events } = (await client.get('/api/timeline?limit=5000')).json
    return events.filter(({ payload }: { payload: { deliveryId?: string } }) => payload.deliveryId).at(-1)
  }
  await expect
    .poll(lastEnd)
    .toMatchObject({ type: 'delivery.failed', payload: { channel: 'sms', kind: 'obsolete', final: true } })
  // Only now, because an attempt in progress would still succeed.
  provider.setOutage(null)
  expect(provider.messages).toEqual([])
  // Nothing is lost, so nothing is reported.
  expect(await typesOf({ client })).not.toContain('sms.failed')
  expect((await client.get('/api/session/operations')).json.texts.notSent).toBe(0)
})

test('pushes nothing that is seen while pushes wait', async () => {
  const service = await startNotifying({ outboundPauses: { firstRetryMs: 20, lookUpAfterMs: [] } })
  await subscribe(service, service.push.origin)
  await service.client.post('/api/halt')
  const timer = (await remind(service, 'Tea')).json
  await expect.poll(() => typesOf(service)).toContain('delivery.requested')
  await service.client.post(`/api/timers/${timer.id}/done`)
  await service.client.post('/api/halt/release', { password: PASSWORD })
  await expect.poll(() => typesOf(service)).toContain('delivery.failed')
  expect(service.push.pushed).toEqual([])
})

test('texts no words of others about a reminder', async () => {
  const { double: provider, environment } = await startProvider()
  let aheadMs = 0
  const { client } = await startWholeService({ environment, nowMs: () => Date.now() + aheadMs })
  const unseenCount = async () => (await unseen({ client })).length
  const pasted = (await client.post('/api/timers', { title: 'Call 0900', at: soon(), pasted: true })).json
  await expect.poll(unseenCount).toBe(1)
  const until = new Date(Date.now() + 300).toISOString()
  await client.post(`/api/timers/${pasted.id}/snooze`, { until })
  await expect.poll(unseenCount).toBe(1)
  aheadMs = 15 * 60_000
  const later = new Date(Date.now() + 2 * aheadMs).toISOString()
  await client.post('/api/timers', { title: 'Later', at: later })
  await expect
    .poll(() => provider.messages.map(({ body }) => body))
    .toEqual(['A reminder is due. Open Delegate to read it.'])
})

test('in quiet hours, only reminders are pushed', async () => {
  const hour = (offset: number) => new Date(Date.now() + offset * 3_600_000).toISOString().slice(11, 16)
  const environment = { QUIET_HOURS: `${hour(-1)}-${hour(1)}`, COPILOT_COMMAND: ASSISTANT }
  const service = await startNotifying({ environment })
  await subscribe(service, service.push.origin)
  await service.client.post('/api/tasks', { title: 'Tidy', prompt: steps({ print: 'Done.' }) })
  await expect
    .poll(async () => (await unseen(service)).map(({ kind }: { kind: string }) => kind))
    .toEqual(['task'])
  await remind(service, 'Tea')
  await expect.poll(() => service.push.pushed.length).toBe(1)
  await service.client.put('/api/config', { entries: { QUIET_HOURS: `${hour(2)}-${hour(3)}` } })
  await expect.poll(() => service.push.pushed.length).toBe(2)
})

test('a receipt names devices whose offline copy is older than the request', async () => {
  let aheadMs = 0
  const service = await startWholeService({ nowMs: () => Date.now() + aheadMs })
  const { client } = service
  const note = (await client.post('/api/notes', { title: 'Secret', content: 'The safe.' })).json
  expect((await client.put('/api/offline-copy', { device: 'Chrome on Android' })).status).toBe(204)
  aheadMs += 1_000
  const erase = async (id: string) => {
    const erasure = (await client.post('/api/erasures', { kind: 'note', id })).json
    aheadMs += 2 * 60_000
    const completed = async () => {
      const { events } = (await client.get('/api/timeline?limit=5000')).json
      return events.find(
        ({ type, payload }: { type: string; payload: { erasureId?: string } }) =>
          type === 'erasure.completed' && payload.erasureId === erasure.id,
      )?.payload
    }
    await expect.poll(completed).toBeDefined()
    return completed()
  }
  expect((await erase(note.id)).devices).toEqual([{ device: 'Chrome on Android', until: expect.any(String) }])
  const other = (await client.post('/api/notes', { title: 'Other', content: 'Another safe.' })).json
  expect((await client.delete('/api/offline-copy')).status).toBe(204)
  expect((await erase(other.id)).devices).toBeUndefined()
})
