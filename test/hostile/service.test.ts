// @module-tag long

import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { hostileTexts } from './texts.ts'

/** Above the limit for rendering a note. Anything slower than linear takes minutes. */
const LIMIT_MS = 8000
/** Of processor time in the main thread. Of the requests, a message of emoji needs the most: 0.39 s measured. */
const MAIN_THREAD_LIMIT_MS = 1000

test('handles hostile messages, notes and searches without blocking the event loop', async () => {
  const { client } = await startWholeService()
  const slow: string[] = []
  const timed = async (what: string, work: () => Promise<{ status: number }>) => {
    const startMs = performance.now()
    const started = process.threadCpuUsage()
    const { status } = await work()
    const busyMs = busyMsSince(started)
    if (status >= 400 || busyMs > MAIN_THREAD_LIMIT_MS || performance.now() - startMs > LIMIT_MS)
      slow.push(`${what}: ${status}, ${busyMs} ms`)
  }
  for (const [name, text] of hostileTexts(100_000)) {
    const content = text.slice(0, 100_000)
    await timed(`message of ${name}`, () => client.post('/api/chat', { content: content.trim() || '.' }))
  }
  for (const [name, text] of hostileTexts(1000)) {
    const q = encodeURIComponent(text.slice(0, 990))
    for (const path of ['timeline/search', 'notes', 'memories'])
      await timed(`${path} for ${name}`, () => client.get(`/api/${path}?q=${q}`))
  }
  for (const [name, text] of hostileTexts(20_000)) {
    const note = await client.post('/api/notes', { title: name, content: text })
    await timed(`page of ${name}`, () => client.get(`/notes/${note.json.id}`))
  }
  expect(slow).toEqual([])
  const started = process.threadCpuUsage()
  await expect
    .poll(async () => (await client.get('/api/memories/insights')).json.runtime.extraction)
    .toMatchObject({ unread: 0, lastFailure: null })
  expect((await client.get('/ready')).status).toBe(200)
  expect(busyMsSince(started)).toBeLessThan(MAIN_THREAD_LIMIT_MS)
})

function busyMsSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(started)
  return (user + system) / 1000
}
