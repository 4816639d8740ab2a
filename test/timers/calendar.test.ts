import { readFileSync } from 'node:fs'
import ICAL from 'ical.js'
import { expect, test } from 'vitest'
import { settingsFile } from '../../src/settings/store.ts'
import { createClient } from '../http/client.ts'
import { startWholeService } from '../support/service.ts'

const HOSTILE = `Milk; eggs, bread\\\nEND:VEVENT\r\nX-EVIL:1 “ü” ${'long '.repeat(40)}`

/** The events of a calendar, as another implementation reads them. */
function eventsOf(text: string) {
  const calendar = new ICAL.Component(ICAL.parse(text))
  return calendar.getAllSubcomponents('vevent').map((component) => {
    const event = new ICAL.Event(component)
    return { uid: event.uid, summary: event.summary, start: event.startDate.toJSDate().toISOString() }
  })
}

test('writes open and coming reminders as a calendar, recurring ones as single events', async () => {
  const nowMs = Date.UTC(2026, 2, 25, 12)
  const service = await startWholeService({
    nowMs: () => nowMs,
    environment: { TIMEZONE: 'Europe/Berlin' },
  })
  const { client } = service
  const set = async (body: object) => (await client.post('/api/timers', body)).json.id
  const due = await set({ title: 'Due', at: new Date(nowMs).toISOString() })
  await expect.poll(async () => (await client.get('/api/timers?open=true')).json.timers.length).toBe(1)
  const once = await set({ title: HOSTILE, at: '2026-04-01T08:00' })
  const far = await set({ title: 'Far', at: '2031-04-01T08:00' })
  const daily = await set({ title: 'Pills', recurrence: '0 9 * * *' })
  const often = await set({ title: 'Often', recurrence: '* * * * *' })
  await client.delete(`/api/timers/${await set({ title: 'Gone', at: '2026-04-02T08:00' })}`)

  const file = await client.get('/api/timers.ics')
  expect(file.headers['content-type']).toBe('text/calendar; charset=utf-8')
  expect(file.headers['content-disposition']).toContain('reminders.ics')
  const events = eventsOf(file.text)
  const of = (id: string) => events.filter(({ uid }) => uid.startsWith(id))
  expect(of(due)).toMatchObject([{ summary: 'Due', start: '2026-03-25T12:00:00.000Z' }])
  expect(of(once)).toEqual([
    {
      uid: `${once}-2026-04-01T06:00:00.000Z`,
      summary: HOSTILE.replaceAll('\r\n', '\n').trim(),
      start: '2026-04-01T06:00:00.000Z',
    },
  ])
  expect(of(far)).toHaveLength(1)
  // Daylight saving begins on 29 March.
  expect(
    of(daily)
      .slice(0, 4)
      .map(({ start }) => start.slice(8, 13)),
  ).toEqual(['26T08', '27T08', '28T08', '29T07'])
  expect(of(daily)).toHaveLength(90)
  expect(of(often)).toHaveLength(100)
  expect(new Set(events.map(({ uid }) => uid)).size).toBe(events.length)
  expect(events).toHaveLength(1 + 1 + 1 + 90 + 100)
  expect(file.text).not.toContain('\nX-EVIL')
  for (const line of file.text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
})

test('serves the calendar at a private address until it is replaced or switched off', async () => {
  let nowMs = Date.now()
  const service = await startWholeService({ nowMs: () => nowMs })
  const { client, port, directory, origin } = service
  const stranger = createClient(port)
  const pathIn = ({ json }: { json: { url: string } }) => new URL(json.url).pathname
  expect((await client.get('/api/timers.feed')).json).toEqual({ madeAt: null })
  const made = await client.post('/api/timers.feed')
  expect(made.status).toBe(201)
  expect(made.json.url).toMatch(new RegExp(`^${origin}/calendar/[\\w-]{43}\\.ics$`))
  const first = pathIn(made)
  await client.post('/api/timers', { title: 'Tea', at: '2099-01-01T09:00' })
  const served = await stranger.get(first)
  expect([served.status, eventsOf(served.text).map(({ summary }) => summary)]).toEqual([200, ['Tea']])
  expect(served.headers['cache-control']).toBe('no-store')
  expect((await stranger.send('HEAD', first)).status).toBe(200)
  const token = /calendar\/([\w-]+)/.exec(first)?.[1] ?? ''
  expect(readFileSync(settingsFile(directory)).includes(token)).toBe(false)
  expect((await client.get('/api/timers.feed')).json).toEqual({ madeAt: new Date(nowMs).toISOString() })

  const second = pathIn(await client.post('/api/timers.feed'))
  const wrong = ['/calendar/x.ics', '/calendar/x', `/calendar/${token}`, `${second}x`, first]
  const refusals = async () => {
    const answers = await Promise.all(wrong.map((path) => stranger.get(path)))
    return answers.map(({ status, json }) => [status, { ...json }])
  }
  const missing = { ...(await stranger.get('/calendar/x.ics')).json }
  expect(missing).toMatchObject({ status: 404, code: 'unknown_calendar' })
  for (const refusal of await refusals()) expect(refusal).toEqual([404, missing])
  expect((await stranger.get(second)).status).toBe(200)

  // Making one needs a fresh proof of the owner; switching it off does not.
  nowMs += 6 * 60_000
  expect((await client.post('/api/timers.feed')).json.code).toBe('step_up_required')
  expect((await client.delete('/api/timers.feed')).status).toBe(204)
  expect((await stranger.get(second)).json).toEqual(missing)
  expect((await client.get('/api/timers.feed')).json).toEqual({ madeAt: null })
})

test('keeps the private address out of the log', async () => {
  const service = await startWholeService({ environment: { LOG_LEVEL: 'debug' } })
  const { url } = (await service.client.post('/api/timers.feed')).json
  await service.client.get(new URL(url).pathname)
  await expect
    .poll(async () => (await service.client.get('/api/logs?level=debug')).text)
    .toContain('/calendar/')
  const token = /calendar\/([\w-]+)/.exec(url)?.[1] ?? ''
  expect((await service.client.get('/api/logs?level=debug')).text).not.toContain(token)
})
