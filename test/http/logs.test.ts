import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { CoreDeps } from '../../src/http/features.ts'
import { logRoutes } from '../../src/http/routes/logs.ts'
import { createRoutes } from '../../src/http/server/env.ts'
import { createLogLines } from '../../src/lib/log-lines.ts'
import { type Service, startService } from './harness.ts'

type Stream = {
  readonly request: ClientRequest
  readonly response: IncomingMessage
  readonly text: () => string
  readonly ended: Promise<void>
}

/** Opens the log stream as a browser would. `paused` reads nothing until it is resumed. */
function openStream(service: Service, query = '', paused = false, lastEventId?: number): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port: service.port,
        host: '127.0.0.1',
        path: `/api/logs/stream${query}`,
        agent: false,
        headers: {
          cookie: service.client.cookie() ?? '',
          ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
        },
      },
      (response) => {
        const chunks: string[] = []
        const ended = Promise.withResolvers<void>()
        response.on('close', () => ended.resolve())
        response.on('error', () => ended.resolve())
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => chunks.push(chunk))
        if (paused) response.pause()
        resolve({ request: sent, response, text: () => chunks.join(''), ended: ended.promise })
      },
    )
    sent.on('error', reject)
    onTestFinished(() => void sent.destroy())
    sent.end()
  })
}

const messagesOf = (text: string) =>
  [...text.matchAll(/event: line\ndata: (.*)\n/g)].map(([, json]) => JSON.parse(json ?? '').message as string)

test('streams each line of its level as it is written, and resumes after the last one seen', async () => {
  const service = await startService()
  const stream = await openStream(service, '?level=warn')
  service.log.info('not this')
  service.log.warn('first')
  service.log.error('second')
  await expect
    .poll(() => messagesOf(stream.text()).filter((text) => /first|second/.test(text)))
    .toEqual(['first', 'second'])
  const lastId = Number(stream.text().match(/id: (\d+)\n\n$/)?.[1])
  stream.request.destroy()
  service.log.warn('meanwhile')
  const again = await openStream(service, '?level=warn&after=1', false, lastId)
  await expect.poll(() => messagesOf(again.text())).toEqual(['meanwhile'])
})

test('ends a stream with the session that opened it', async () => {
  const service = await startService()
  const stream = await openStream(service)
  const other = await service.signedIn()
  const { json } = await other.get('/api/sessions')
  const { id } = json.sessions.find(({ current }: { current: boolean }) => !current)
  expect((await other.delete(`/api/sessions/${id}`)).status).toBe(204)
  await stream.ended
  service.log.info('after the end')
  expect(stream.text()).not.toContain('after the end')
})

test('tells a slow reader how many lines it missed instead of buffering for it', {
  tags: ['long'],
}, async () => {
  const service = await startService()
  const stream = await openStream(service, '?level=info', true)
  const padding = 'x'.repeat(2_000)
  for (let batch = 0; batch < 60; batch += 1) {
    for (let index = 0; index < 500; index += 1) service.log.info({ padding }, `line ${batch * 500 + index}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  stream.response.resume()
  await expect.poll(() => stream.text().includes('line 29999')).toBe(true)
  const missed = [...stream.text().matchAll(/event: dropped\ndata: (\d+)/g)].map(([, count]) => Number(count))
  const seen = messagesOf(stream.text()).filter((text) => text.startsWith('line ')).length
  const total = missed.reduce((sum, count) => sum + count, 0)
  expect(total).toBeGreaterThan(10_000)
  // Seen and missed lines add up to all lines. Lines before the first one seen may be missed too.
  expect(seen + total).toBeGreaterThanOrEqual(30_000)
  expect(seen + total).toBeLessThan(30_050)
})

test('keeps a bounded number of lines of a bounded size', async () => {
  const service = await startService()
  service.log.info({ huge: 'y'.repeat(2_000_000) }, 'z'.repeat(100_000))
  for (let index = 0; index < 2_500; index += 1) service.log.debug(`filler ${index}`)
  service.log.info({ huge: 'y'.repeat(2_000_000) }, 'z'.repeat(100_000))
  const { json, text } = await service.client.get('/api/logs?limit=2000')
  expect(json.lines).toHaveLength(2_000)
  expect(json.dropped).toBeGreaterThan(500)
  const line = json.lines.find(({ message }: { message: string }) => message.startsWith('zz'))
  expect(line).toMatchObject({ level: 'info', fields: { cutFromChars: expect.any(Number) } })
  expect(line.message.length).toBeLessThan(8_000)
  expect(text.length).toBeLessThan(1_000_000)
})

test('validates limit, level and after', async () => {
  const service = await startService()
  for (let index = 0; index < 5; index += 1) service.log.warn(`odd ${index}`)
  service.log.error('bad')
  const { json } = await service.client.get('/api/logs?level=warn&limit=2')
  expect(json.lines.map(({ message }: { message: string }) => message)).toEqual(['odd 4', 'bad'])
  const after = json.lines[0].id
  const next = (await service.client.get(`/api/logs?level=warn&after=${after}`)).json
  expect(next.lines.map(({ message }: { message: string }) => message)).toEqual(['bad'])
  for (const query of ['limit=0', 'limit=2001', 'level=loud', 'after=-1', 'after=x']) {
    expect([query, (await service.client.get(`/api/logs?${query}`)).status]).toEqual([query, 400])
  }
})

test('leaves no subscriber behind after a HEAD of the stream', async () => {
  const lines = createLogLines(10)
  let listeners = 0
  const counted: typeof lines = {
    ...lines,
    subscribe(listener) {
      listeners += 1
      const unsubscribe = lines.subscribe(listener)
      return () => {
        listeners -= 1
        unsubscribe()
      }
    },
  }
  const app = createRoutes()
  app.use((c, next) => {
    c.set('session', { id: 's1', createdAtMs: 0, lastSeenAtMs: 0, userAgent: '' })
    return next()
  })
  const sessions = { onEnded: () => () => undefined } as Partial<CoreDeps['sessions']>
  logRoutes(app, { logLines: counted, sessions, stopping: new AbortController().signal } as CoreDeps)
  const answer = await app.request('/api/logs/stream', { method: 'HEAD' })
  expect([answer.status, answer.headers.get('content-type'), listeners]).toEqual([
    200,
    'text/event-stream',
    0,
  ])
})
