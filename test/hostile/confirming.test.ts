import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { digestOf } from '../../src/agent/proposals/carry-out.ts'
import { steps } from '../doubles/assistant/assistant.ts'
import { order } from '../doubles/model/obedient.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { ofType } from '../phone/phone-harness.ts'
import { startWithTexts } from '../sms/sms-harness.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import {
  ALL_DONE,
  ATTACK,
  ask,
  DEEDS,
  type House,
  leftOf,
  startObedient,
  UNTOUCHED,
} from './obedient-house.ts'

/** Has the model read a note that orders all five deeds. Returns the proposals by tool. */
async function propose(house: House) {
  await house.service.client.post('/api/notes', { title: 'Recipe', content: ATTACK })
  await ask(house, 'Read me the note Recipe', { name: 'read_note', arguments: { query: 'Recipe' } })
  return proposalsOf(house)
}

async function proposalsOf({ service }: House) {
  const { proposals } = (await service.client.get('/api/proposals')).json
  // biome-ignore lint/suspicious/noExplicitAny: untyped JSON of the answer.
  return Object.fromEntries(proposals.map((each: any) => [each.tool, each]))
}

const press = ({ service }: House, { id }: { id: string }, decision = 'confirm') =>
  service.client.post(`/api/proposals/${id}/${decision}`)

test('shows exactly what would happen and what suggested it', async () => {
  const proposed = await propose(await startObedient())
  const why = 'Your assistant suggested this after reading a note.'
  expect(proposed).toMatchObject({
    dispatch_task: { target: 'Have the coding assistant do “Backup”', text: '[]', verb: 'Run task', why },
    forget: { target: 'Forget this for good', text: 'I like tea', verb: 'Forget', why },
    delete_note: { target: 'Delete the note “Diary”', text: 'Dear diary', verb: 'Delete note', why },
    update_note: {
      target: 'Change the note “Plans”',
      text: 'Replaces the whole text:\nNothing',
      verb: 'Change note',
      why,
    },
    cancel_timer: { target: 'Cancel the reminder “Dentist”', verb: 'Cancel reminder', why },
    cancel_task: {
      target: 'Cancel the task “Rewrite”',
      text: steps({ hang: true }),
      verb: 'Cancel task',
      why,
    },
    change_timer: {
      target: 'Change the reminder “Haircut”',
      text: 'Sunday, 1 March 2099 at 09:00',
      verb: 'Change reminder',
      why,
    },
  })
})

test('shows where an outcome goes and that a change replaces the whole text', async () => {
  const house = await startObedient()
  await house.service.client.post('/api/notes', {
    title: 'Recipe',
    content: [
      order('dispatch_task', { title: 'Backup', prompt: 'Back up.', notify: 'webhook' }),
      order('update_note', { query: 'Plans', title: null, content: '', append: 'milk', remove: null }),
    ].join('\n'),
  })
  await ask(house, 'Read me the note Recipe', { name: 'read_note', arguments: { query: 'Recipe' } })
  expect(await proposalsOf(house)).toMatchObject({
    dispatch_task: { text: 'The outcome goes to the webhook in your settings.\n\nBack up.' },
    update_note: { text: 'Replaces the whole text.\n\nAdd:\nmilk' },
  })
})

test('rejects a confirmation by GET or from another origin', async () => {
  const house = await startObedient()
  const { delete_note } = await propose(house)
  const { client } = house.service
  const path = `/api/proposals/${delete_note.id}/confirm`
  expect((await client.get(path)).status).toBeGreaterThanOrEqual(400)
  const headers = { 'content-type': 'text/plain', origin: 'https://evil.example' }
  expect((await client.send('POST', path, '', { headers })).status).toBe(403)
  expect((await leftOf(house)).diary).toBe('Dear diary')
})

test('does each confirmed deed once despite concurrent presses, and informs the delegate', async () => {
  const house = await startObedient()
  const proposed = await propose(house)
  for (const tool of Object.keys(DEEDS)) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => press(house, proposed[tool])))
    const [first, ...others] = answers.toSorted((a, b) => a.status - b.status)
    expect([tool, first?.status, first?.json.outcome]).toEqual([tool, 200, 'done'])
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([409]))
  }
  expect(await leftOf(house)).toEqual(ALL_DONE)
  const events = await house.events()
  expect(ofType(events, 'proposal.completed')).toHaveLength(Object.keys(DEEDS).length)
  expect(ofType(events, 'note.deleted')).toHaveLength(1)
  house.text.reply({ text: 'All done.' })
  await house.service.client.post('/api/chat', { content: 'And?' })
  expect(turnRequests(house.text).at(-1)?.text).toContain('“Delete the note “Diary””. It was done.')
})

test('leaves no digest that gives erased arguments away', async () => {
  const house = await startObedient()
  await propose(house)
  const all = ofType(await house.events(), 'proposal.made')
  expect(all).toHaveLength(Object.keys(DEEDS).length)
  for (const { payload } of all) {
    const { tool, subject } = payload
    expect(payload.digest).not.toBe(digestOf({ tool, arguments: JSON.parse(payload.arguments), subject }))
  }
})

test('carries out a proposal of an earlier version, which has no salt', async () => {
  const directory = testDirectory()
  const first = await startObedient({ directory })
  const { delete_note } = await propose(first)
  const made = ofType(await first.events(), 'proposal.made').find(
    ({ payload }) => payload.tool === 'delete_note',
  )
  await first.service.stop()
  const { append, close } = await openTestStorage(directory)
  const { target, text, verb, why, arguments: json, subject, expiresAt } = made.payload
  const digest = digestOf({ tool: 'delete_note', arguments: JSON.parse(json), subject })
  const facts = { proposalId: 'old', kind: 'tool', tool: 'delete_note', expiresAt, digest } as const
  const body = { target, text, verb, why, arguments: json, subject }
  await append([{ type: 'proposal.made', actor: 'delegate', facts, body }])
  await close()
  const house = await startWithTexts({ directory })
  expect((await press(house, { ...delete_note, id: 'old' })).json).toMatchObject({ outcome: 'done' })
  expect((await leftOf(house)).diary).toBeNull()
})

test('does nothing that the owner declines', async () => {
  const house = await startObedient()
  const proposed = await propose(house)
  for (const tool of Object.keys(DEEDS))
    expect((await press(house, proposed[tool], 'decline')).json.status).toBe('declined')
  expect((await press(house, proposed.delete_note)).status).toBe(409)
  expect(await leftOf(house)).toEqual(UNTOUCHED)
})

test('refuses a confirmed deed whose subject has changed since', async () => {
  const house = await startObedient()
  const { delete_note, update_note } = await propose(house)
  const { client } = house.service
  for (const title of ['Diary', 'Plans']) {
    const { notes } = (await client.get('/api/notes')).json
    const { id } = notes.find((note: { title: string }) => note.title === title)
    await client.send('PUT', `/api/notes/${id}`, JSON.stringify({ content: `${title}, rewritten` }), {
      headers: { 'content-type': 'application/json' },
    })
  }
  for (const each of [delete_note, update_note])
    expect((await press(house, each)).json).toMatchObject({
      outcome: 'refused',
      outcomeText: expect.stringContaining('has changed since you were asked'),
    })
  expect(await leftOf(house)).toMatchObject({ diary: 'Diary, rewritten', plans: 'Plans, rewritten' })
})

/** Restarts the service as if killed after a confirmation and the events of `more`. */
async function restarted(more: (confirmed: { seq: number; noteId: string }) => readonly NewEvent[]) {
  const directory = testDirectory()
  const first = await startObedient({ directory })
  const { delete_note } = await propose(first)
  const { notes } = (await first.service.client.get('/api/notes')).json
  const noteId = notes.find(({ title }: { title: string }) => title === 'Diary').id
  await first.service.stop()
  const { append, close } = await openTestStorage(directory)
  const { id: proposalId } = delete_note
  const key = `proposal-settled:${proposalId}`
  const appended = await append([
    { type: 'proposal.confirmed', actor: 'owner', channel: 'chat', key, facts: { proposalId } },
  ])
  const seq = appended.status === 'appended' ? (appended.events[0]?.seq ?? 0) : 0
  const done = more({ seq, noteId })
  if (done.length > 0) await append(done)
  await close()
  return startWithTexts({ directory })
}

test('does a confirmed deed at the next start if killed before it', async () => {
  const house = await restarted(() => [])
  const all = await house.eventsUntil(
    'the completed deed',
    (events) => ofType(events, 'proposal.completed').length > 0,
  )
  expect(ofType(all, 'proposal.completed')).toMatchObject([{ payload: { outcome: 'done' } }])
  expect(ofType(all, 'note.deleted')).toHaveLength(1)
  expect((await leftOf(house)).diary).toBeNull()
})

test('does not repeat a deed if killed right after it', async () => {
  const house = await restarted(({ seq, noteId }) => [
    { type: 'note.deleted', actor: 'delegate', causedBy: seq, facts: { noteId, source: 'delegate' } },
  ])
  const all = await house.eventsUntil(
    'the completed deed',
    (events) => ofType(events, 'proposal.completed').length > 0,
  )
  expect(ofType(all, 'proposal.completed')).toMatchObject([{ payload: { outcome: 'done' } }])
  expect(ofType(all, 'note.deleted')).toHaveLength(1)
})

test('holds a confirmed deed after a restore until the owner releases outgoing work', async () => {
  const house = await restarted(() => [
    { type: 'ledger.imported', actor: 'service', facts: { source: 'restore', headSeq: 1, headHash: 'a' } },
  ])
  expect((await leftOf(house)).diary).not.toBeNull()
  await house.service.client.post('/api/outbound/release')
  await house.eventsUntil('the completed deed', (events) => ofType(events, 'proposal.completed').length > 0)
  expect((await leftOf(house)).diary).toBeNull()
})
