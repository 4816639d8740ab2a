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

const SOON_MS = 60_000

/** A service with one reminder that is due and open. */
async function startWithReminder() {
  let nowMs = Date.now()
  const service = await startWholeService({ nowMs: () => nowMs, environment: { TIMEZONE: 'Europe/Berlin' } })
  const { client } = service
  const at = new Date(nowMs).toISOString()
  const { id } = (await client.post('/api/timers', { title: 'Tea', at })).json
  const read = async (timerId = id) =>
    (await client.get('/api/timers')).json.timers.find((timer: Listed) => timer.id === timerId)
  await expect.poll(async () => (await read()).open).toBe(at)
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { ...service, id, at, read, pass, now: () => nowMs }
}

test('ticks off a reminder, once or again, and lists what is open', async () => {
  const { client, id, at, read } = await startWithReminder()
  const open = async () => (await client.get('/api/timers?open=true')).json
  expect(await open()).toMatchObject({ timers: [{ id, open: at, settled: null }], nextCursor: null })
  for (const body of [{}, { occurrence: at }, {}])
    expect((await client.post(`/api/timers/${id}/done`, body)).status).toBe(204)
  expect(await open()).toEqual({ timers: [], nextCursor: null })
  expect(await read()).toMatchObject({ status: 'done', open: null, settled: 'done' })
  const { events } = (await client.get('/api/timeline')).json
  const done = events.filter(({ type }: { type: string }) => type === 'timer.done')
  expect(done).toMatchObject([{ payload: { timerId: id, occurrence: at, by: 'owner' } }])
})

test('snoozes a reminder by minutes or until a local time, and returns the first snooze again', async () => {
  const { client, id, at, read, now } = await startWithReminder()
  const snooze = (body: object) => client.post(`/api/timers/${id}/snooze`, body)
  for (const body of [{}, { minutes: 0 }, { until: 'soon' }, { until: '2001-01-01T09:00' }])
    expect([body, (await snooze(body)).status]).toEqual([body, 400])
  const first = await snooze({ minutes: 10, occurrence: at })
  const dueAt = new Date(now() + 10 * SOON_MS).toISOString()
  expect([first.status, first.json]).toMatchObject([200, { title: 'Tea', dueAt, snoozes: { timerId: id } }])
  expect((await snooze({ minutes: 60 })).json).toEqual(first.json)
  expect(await read()).toMatchObject({ open: null, settled: 'snoozed' })
  const late = (await client.post('/api/timers', { title: 'Cake', at })).json
  await expect.poll(async () => (await read(late.id)).open).toBe(at)
  const until = await client.post(`/api/timers/${late.id}/snooze`, { until: '2099-07-01T09:00' })
  expect(until.json.dueAt).toBe('2099-07-01T07:00:00.000Z')
})

test('changes the title, the time and the recurrence of a timer', async () => {
  const { client, id } = await startWithReminder()
  const dentist = (await client.post('/api/timers', { title: 'Dentist', at: '2099-01-05T09:00' })).json
  const change = (body: object, timerId = dentist.id) => client.put(`/api/timers/${timerId}`, body)
  expect((await change({ title: ' Dr Weber ' })).json).toEqual({ ...dentist, title: 'Dr Weber' })
  expect((await change({ at: '2099-01-05T17:00' })).json.dueAt).toBe('2099-01-05T16:00:00.000Z')
  expect((await change({ recurrence: '0 9 * * 1' })).json.recurrence).toBe('0 9 * * 1')
  const everyOther = { at: '2099-01-08T09:00', recurrence: '0 9 * * 4%2' }
  expect((await change(everyOther)).json).toMatchObject({
    dueAt: '2099-01-08T08:00:00.000Z',
    recurrence: '0 9 * * 4%2+0',
  })
  expect((await change({ recurrence: null })).json.recurrence).toBeNull()
  const wrong = [
    { title: '' },
    { at: 'soon' },
    { at: '2001-01-01' },
    { recurrence: 'x' },
    { recurrence: '* * * * * *' },
  ]
  for (const body of wrong) expect([body, (await change(body)).status]).toEqual([body, 400])
  expect((await change({ title: 'Late' }, id)).json.code).toBe('timer_over')
  expect((await client.get('/api/timeline/search?q=Weber')).json.hits[0]).toMatchObject({
    type: 'timer.changed',
  })
})

test('refuses unknown timers with 404, and those that are over or not due with 409', async () => {
  const { client, id } = await startWithReminder()
  const later = (await client.post('/api/timers', { title: 'Later', at: '2099-01-05T09:00' })).json.id
  await client.post(`/api/timers/${id}/done`, {})
  const asked = [
    [await client.put('/api/timers/nothing', { title: 'x' }), 404, 'unknown_timer'],
    [await client.post('/api/timers/nothing/done', {}), 404, 'unknown_timer'],
    [await client.post('/api/timers/nothing/snooze', { minutes: 5 }), 404, 'unknown_timer'],
    [await client.post(`/api/timers/${later}/done`, {}), 409, 'timer_not_due'],
    [await client.post(`/api/timers/${later}/snooze`, { minutes: 5 }), 409, 'timer_not_due'],
    [await client.post(`/api/timers/${id}/snooze`, { minutes: 5 }), 409, 'timer_over'],
  ] as const
  for (const [{ status, json }, expected, code] of asked)
    expect([status, json.code]).toEqual([expected, code])
})
