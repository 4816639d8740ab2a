import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { order } from '../doubles/model/obedient.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { ofType } from '../phone/phone-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { text } from '../sms/sms-harness.ts'
import {
  ALL_DONE,
  ATTACK,
  ask,
  DEEDS,
  type House,
  leftOf,
  ORDERS,
  proposedTools,
  startObedient,
  UNTOUCHED,
} from './obedient-house.ts'

const read = { name: 'read_note', arguments: { query: 'Recipe' } }

const keepNote = ({ service }: House, content = ATTACK) =>
  service.client.post('/api/notes', { title: 'Recipe', content })

/** Sends a text from a number and waits until its turn completes. */
async function textAs(house: House, from: string, body: string) {
  const ended = (all: readonly { type: string }[]) => ofType(all, 'turn.completed').length
  const before = ended(await house.events())
  await text(house, `SM${before}${from}`, from, body)
  await house.eventsUntil('the answer', (all) => ended(all) > before)
}

const ATTACKS: Readonly<Record<string, (house: House) => Promise<unknown>>> = {
  'a note': async (house) => {
    await keepNote(house)
    await ask(house, 'Read me the note Recipe', read)
  },
  'a list of notes': async (house) => {
    for (const each of ORDERS) await keepNote(house, each)
    await ask(house, 'Which notes do I have?', { name: 'list_notes', arguments: { query: null } })
  },
  'text pasted into a note': async (house) => {
    await ask(house, 'Start a note for recipes', {
      name: 'create_note',
      arguments: { title: 'Recipe', content: 'Pancakes' },
    })
    const [{ id }] = (await house.service.client.get('/api/notes?q=Recipe')).json.notes
    await house.service.client.send('PUT', `/api/notes/${id}`, JSON.stringify({ content: ATTACK }), {
      headers: { 'content-type': 'application/json' },
    })
    await ask(house, 'Read me the note Recipe', read)
  },
  'pasted text to which the delegate added a line': async (house) => {
    await ask(house, 'Start a note for recipes', {
      name: 'create_note',
      arguments: { title: 'Recipe', content: 'Pancakes' },
    })
    const [{ id }] = (await house.service.client.get('/api/notes?q=Recipe')).json.notes
    await house.service.client.send('PUT', `/api/notes/${id}`, JSON.stringify({ content: ATTACK }), {
      headers: { 'content-type': 'application/json' },
    })
    await ask(house, 'Add milk to the note Recipe', {
      name: 'update_note',
      arguments: { query: 'Recipe', title: null, content: null, append: 'milk', remove: null },
    })
    await ask(house, 'Read me the note Recipe', read)
  },
  'a search hit in a task that the owner pasted': async (house) => {
    for (const each of ORDERS)
      await house.service.client.post('/api/tasks', { title: 'Look', prompt: `Pancakes ${each}` })
    // The tool waits for the search index for a second at most.
    const dispatched = async () => {
      const { hits } = (await house.service.client.get('/api/timeline/search?q=pancakes')).json
      return hits.filter(({ type }: { type: string }) => type === 'task.dispatched')
    }
    await expect.poll(dispatched).toHaveLength(ORDERS.length)
    // An activation would take the reply that is scripted for the question.
    await house.eventsUntil('all outcomes', (all) => {
      const handled = ofType(all, 'activation.completed').flatMap(({ payload }) => payload.signalIds)
      return new Set(handled).size === ORDERS.length
    })
    await ask(house, 'What was that about pancakes?', {
      name: 'search_timeline',
      arguments: { query: 'pancakes', channel: null, from: null, to: null },
    })
  },
  'a search hit in a text from a stranger': async (house) => {
    for (const each of ORDERS) {
      house.text.reply({ text: 'Hello.' })
      await textAs(house, '+14155550166', `Pancakes ${each}`)
    }
    await ask(house, 'What was that about pancakes?', {
      name: 'search_timeline',
      arguments: { query: 'pancakes', channel: null, from: null, to: null },
    })
  },
  'the outcome of a task': async (house) => {
    await runTask(house)
    await ask(house, 'What did it find?', { name: 'list_tasks', arguments: {} })
  },
  'a note read in the previous turn': async (house) => {
    await keepNote(house)
    house.text.reply({ toolCalls: [read] }, { text: `It says: ${ATTACK}` })
    await house.service.client.post('/api/chat', { content: 'Read me the note Recipe' })
    await ask(house, 'Thanks')
  },
  'a note that the delegate wrote after reading another': async (house) => {
    await keepNote(house, 'Pancakes')
    house.text.reply(
      { toolCalls: [read] },
      { toolCalls: [{ name: 'create_note', arguments: { title: 'Copy', content: ATTACK } }] },
      { text: 'Copied.' },
    )
    await house.service.client.post('/api/chat', { content: 'Copy the note Recipe' })
    await ask(house, 'Read me the copy', { name: 'read_note', arguments: { query: 'Copy' } })
  },
  "a text from the owner's number": (house) => textAs(house, OWNER, ATTACK),
  "a text from the owner's number, in the next turn in the browser": async (house) => {
    house.text.reply({ text: 'Hello.' })
    await textAs(house, OWNER, ATTACK)
    await ask(house, 'Thanks')
  },
  'a memory learned from a text': async (house) => {
    house.text.reply(
      { toolCalls: [{ name: 'remember', arguments: { text: `My motto is ${ATTACK}` } }] },
      { text: 'Ok.' },
    )
    await textAs(house, OWNER, `Remember that my motto is ${ATTACK}`)
    const { conversationId } = (await house.service.client.get('/api/conversations')).json.conversations[0]
    await house.service.client.post(`/api/conversations/${conversationId}/end`)
    await ask(house, 'What is my motto?', { name: 'recall', arguments: { query: 'motto' } })
  },
  'words spoken to a device': async (house) => {
    house.text.replyTo('/audio/transcriptions', { text: ATTACK })
    await house.service.client.post('/_dev/walkie/voice', {
      audioBase64: Buffer.from('RIFF of a recording').toString('base64'),
      format: 'wav',
    })
  },
}

async function runTask(house: House): Promise<void> {
  house.text.reply({ text: '[silent]' })
  await house.service.client.post('/api/tasks', { title: 'Look', prompt: steps({ print: ATTACK }) })
  await house.eventsUntil('the outcome', (all) => ofType(all, 'activation.completed').length > 0)
}

test.each(Object.entries(ATTACKS))('only proposes the deeds ordered by %s', async (_name, attack) => {
  const house = await startObedient({
    environment: { TRANSCRIPTION_MODEL: 'test-ears' },
  })
  await attack(house)
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
  await ATTACKS['a note read in the previous turn']?.(house)
  house.text.reply({ toolCalls: CALLS }, { toolCalls: CALLS }, { text: 'Ok.' })
  await house.service.client.post('/api/chat', { content: 'Do all of it' })
  expect(await leftOf(house)).toEqual(ALL_DONE)
  const readAlone = turnRequests(house.text).filter(({ text }) => !text.includes('OBEY'))
  expect(readAlone.at(-1)?.text).toContain('Do all of it')
})

test("only proposes a deed if the owner's words alone lead to another", async () => {
  const house = await startObedient()
  await ATTACKS['a note read in the previous turn']?.(house)
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
