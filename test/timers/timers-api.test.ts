import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'

type Listed = { id: string; status: string; dueAt: string }

test('pages through timers once each: active ones first, the soonest on top, then past ones', async () => {
  const { client } = await startWholeService()
  expect((await client.get('/api/timers')).json).toEqual({ timers: [], nextCursor: null })
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  const same = at(90)
  const ids: string[] = []
  const lastOfAll = '9999-12-31T23:59:59.000Z'
  for (const due of [at(60), same, same, at(30), at(120), same, at(10), lastOfAll])
    ids.push((await client.post('/api/timers', { title: 'Tea', at: due })).json.id)
  for (const id of [ids[0], ids[2], ids[5]])
    expect((await client.delete(`/api/timers/${id}`)).status).toBe(204)

  const whole: Listed[] = (await client.get('/api/timers')).json.timers
  expect(whole.map(({ status }) => status)).toEqual([
    ...Array<string>(5).fill('active'),
    ...Array<string>(3).fill('cancelled'),
  ])
  const due = whole.map(({ dueAt }) => dueAt)
  expect(due.slice(0, 5)).toEqual(due.slice(0, 5).sort())
  expect(due.slice(5)).toEqual(due.slice(5).sort().reverse())
  for (const limit of [1, 2, 3, 7]) {
    const paged: Listed[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { json } = await client.get(`/api/timers?limit=${limit}${query}`)
      expect(json.timers.length).toBeGreaterThan(0)
      paged.push(...json.timers)
      cursor = json.nextCursor
    } while (cursor !== null)
    expect(paged).toEqual(whole)
  }
  for (const query of ['limit=0', 'limit=501', 'limit=1e1', 'cursor=', 'cursor=soon', 'cursor=2.1.x'])
    expect([query, (await client.get(`/api/timers?${query}`)).status]).toEqual([query, 400])
})

test('rejects a moment that is invalid, past or beyond the year 9999 with the reason', async () => {
  const { client } = await startWholeService({ environment: { TIMEZONE: 'America/New_York' } })
  for (const at of [
    'soon',
    '2001-01-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
    '9999-12-31T23:00:00-05:00',
    '9999-12-31T23:00',
  ]) {
    const { status, json } = await client.post('/api/timers', { title: 'Tea', at })
    expect([at, status, json.code, json.errors?.[0].path]).toEqual([at, 400, 'invalid_request', 'at'])
  }
  const last = await client.post('/api/timers', { title: 'Tea', at: '9999-12-31T23:59:59Z' })
  expect([last.status, last.json.dueAt]).toEqual([201, '9999-12-31T23:59:59.000Z'])
})
