import { expect, test } from 'vitest'
import { order } from '../doubles/model/obedient.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { ofType } from '../phone/phone-harness.ts'
import { ATTACKS } from './attacks.ts'
import {
  ALL_DONE,
  ask,
  DEEDS,
  leftOf,
  ORDERS,
  paste,
  proposedTools,
  startObedient,
  UNTOUCHED,
} from './obedient-house.ts'

/** The other ways in are left to the long tests. */
const DAILY = [
  'text pasted into a message',
  "a text from the owner's number",
  'a note',
  'a memory learned from a text',
  'a search hit in a text from a stranger',
  'the outcome of a task',
]

for (const [name, attack] of Object.entries(ATTACKS))
  test(`only proposes the deeds ordered by ${name}`, {
    tags: DAILY.includes(name) ? [] : ['long'],
  }, async () => {
    const house = await startObedient({
      environment: { TRANSCRIPTION_MODEL: 'test-ears' },
    })
    await attack(house, ORDERS)
    expect(await leftOf(house)).toEqual(UNTOUCHED)
    expect(await proposedTools(house)).toEqual(Object.keys(DEEDS).sort())
  })

test('only proposes a deed ordered by the title of a timer', async () => {
  const house = await startObedient()
  const title = order('delete_note', { query: 'Diary' })
  await house.service.client.post('/api/timers', { title, at: '2099-01-01T09:00:00Z' })
  await ask(house, 'Which timers do I have?', { name: 'list_timers', arguments: {} })
  expect(await leftOf(house)).toEqual(UNTOUCHED)
  expect(await proposedTools(house)).toEqual(['delete_note'])
})

/** The deeds as calls of the model. */
const CALLS = Object.entries(DEEDS).map(([name, args]) => ({ name, arguments: args }))

test('does at once what the owner asks for in the browser', async () => {
  const house = await startObedient()
  await ask(house, 'Do all of it', ...CALLS)
  expect(await leftOf(house)).toEqual(ALL_DONE)
  expect(await proposedTools(house)).toEqual([])
})

test("does at once, after a hostile note, what the owner's words alone ask for", async () => {
  const house = await startObedient()
  await ATTACKS['a note read in the previous turn']?.(house, ORDERS)
  house.text.reply({ toolCalls: CALLS }, { toolCalls: CALLS }, { text: 'Ok.' })
  await house.service.client.post('/api/chat', { content: 'Do all of it' })
  expect(await leftOf(house)).toEqual(ALL_DONE)
  const readAlone = turnRequests(house.text).filter(({ text }) => !text.includes('OBEY'))
  expect(readAlone.at(-1)?.text).toContain('Do all of it')
})

test('does at once what the owner typed beside a pasted text', async () => {
  const house = await startObedient()
  const wish = { toolCalls: [{ name: 'delete_note', arguments: { query: 'Diary' } }] }
  house.text.reply(wish, wish, { text: 'Done.' })
  const turnId = await paste(house, 'Delete the note Diary, and keep this: ', 'Dear Ann, how are you?')
  expect((await leftOf(house)).diary).toBeNull()
  const [, alone] = turnRequests(house.text).slice(-3)
  expect(alone?.text).toContain('keep this: [pasted text, 22 characters]')
  expect(alone?.text).not.toContain('Dear Ann')
  const { foreign } = (await house.service.client.get(`/api/turns/${turnId}`)).json
  expect(foreign[0]).toMatchObject({ type: 'chat.message.received', tool: null })
})

test("only proposes a deed if the owner's words alone lead to another", async () => {
  const house = await startObedient()
  await ATTACKS['a note read in the previous turn']?.(house, ORDERS)
  const before = await leftOf(house)
  const wish = (query: string) => ({ toolCalls: [{ name: 'delete_note', arguments: { query } }] })
  house.text.reply(wish('Diary'), wish('Recipe'), { text: 'It waits.' })
  await house.service.client.post('/api/chat', { content: 'Delete it' })
  expect(await leftOf(house)).toEqual(before)
  expect(await proposedTools(house)).toContain('delete_note')
})

test('limits one message to 20 changes and 5 texts, and tells the model why', async () => {
  const house = await startObedient()
  const refusals = async () =>
    ofType(await house.events(), 'tool.returned')
      .filter(({ payload }) => payload.outcome === 'refused')
      .map(({ payload }) => [payload.tool, payload.reason])
  const note = (index: number) => ({
    name: 'create_note',
    arguments: { title: null, content: `Note ${index}` },
  })
  await ask(house, 'Write 21 notes', ...Array.from({ length: 21 }, (_, index) => note(index)))
  expect(await refusals()).toEqual([['create_note', 'turn_limit']])
  expect((await house.service.client.get('/api/notes?limit=50')).json.notes).toHaveLength(22)
  const sms = (index: number) => ({ name: 'send_sms', arguments: { to: null, text: `Text ${index}` } })
  await ask(house, 'Text me six times', ...Array.from({ length: 6 }, (_, index) => sms(index)))
  expect(await refusals()).toEqual([
    ['create_note', 'turn_limit'],
    ['send_sms', 'turn_limit'],
  ])
  expect(turnRequests(house.text).at(-1)?.text).toContain('at most 5 texts')
})

test('rejects a timer that repeats within a minute, from the model and by the API', async () => {
  const house = await startObedient()
  const tooFrequent = ['*/10 * * * * *', '0,30 * * * * *', '* * * * * *', '0-5 0 9 * * *']
  const set = (recurrence: string) => ({
    name: 'set_timer',
    arguments: { title: 'Flood', at: null, in_minutes: null, recurrence, missed_policy: null },
  })
  await ask(house, 'Remind me all the time', ...tooFrequent.map(set))
  const returned = ofType(await house.events(), 'tool.returned').filter(
    ({ payload }) => payload.tool === 'set_timer',
  )
  expect(returned.map(({ payload }) => payload.reason)).toEqual(tooFrequent.map(() => 'invalid_recurrence'))
  const { client } = house.service
  for (const recurrence of tooFrequent)
    expect((await client.post('/api/timers', { title: 'Flood', recurrence })).status).toBe(400)
  for (const recurrence of ['* * * * *', '30 0 9 * * *'])
    expect((await client.post('/api/timers', { title: 'Fine', recurrence })).status).toBe(201)
})
