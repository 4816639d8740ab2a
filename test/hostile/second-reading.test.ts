import { expect, test } from 'vitest'
import { obedient, order } from '../doubles/model/obedient.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { type House, leftOf, proposedTools, startObedient } from './obedient-house.ts'

const remove = (query: string) => ({ name: 'delete_note', arguments: { query } })

/** Starts after a note was read, so that each deed needs a second reading. */
async function startAfterReading(content = 'Pancakes') {
  const house = await startObedient()
  await house.service.client.post('/api/notes', { title: 'Recipe', content })
  house.text.reply(
    { toolCalls: [{ name: 'read_note', arguments: { query: 'Recipe' } }] },
    { text: 'It says: Pancakes.' },
  )
  await say(house, 'Read me the note Recipe')
  return house
}

const say = ({ service }: House, content: string) => service.client.post('/api/chat', { content })

/** A careful model: lists the notes first if it can, then deletes the one it found. */
// biome-ignore lint/suspicious/noExplicitAny: untyped JSON of the request.
const careful = ({ body }: any) => {
  const { input } = body
  const since = input.slice(input.findLastIndex(({ role }: { role: string }) => role === 'user'))
  const called = since.flatMap(({ type, name }: { type: string; name: string }) =>
    type === 'function_call' ? [name] : [],
  )
  const canList = body.tools.some(({ name }: { name: string }) => name === 'list_notes')
  if (canList && !called.includes('list_notes'))
    return { toolCalls: [{ name: 'list_notes', arguments: { query: 'Diary' } }] }
  return called.includes('delete_note') ? { text: 'Done.' } : { toolCalls: [remove('Diary')] }
}

test('does what the owner typed without confirmation when the model lists the notes first', async () => {
  const house = await startObedient()
  house.text.answerWith(careful)
  await say(house, 'Delete the note Diary')
  expect(await proposedTools(house)).toEqual([])
  expect((await leftOf(house)).diary).toBeNull()
})

test('accepts the calls of the second reading in any order', async () => {
  const house = await startAfterReading()
  house.text.reply(
    { toolCalls: [remove('Diary'), remove('Plans')] },
    { toolCalls: [remove('Plans'), remove('Diary')] },
    { text: 'Ok.' },
  )
  await say(house, 'Delete the notes Diary and Plans')
  expect(await leftOf(house)).toMatchObject({ diary: null, plans: null })
})

test('pairs every call with its result in every request, including the second reading', async () => {
  const house = await startAfterReading()
  house.text.reply({ toolCalls: [remove('Diary')] }, { toolCalls: [remove('Diary')] }, { text: 'Ok.' })
  await say(house, 'Delete the note Diary')
  for (const request of turnRequests(house.text)) {
    // biome-ignore lint/suspicious/noExplicitAny: untyped JSON of the request.
    const input = (request as any).body.input as { type: string; call_id: string }[]
    const ids = (wanted: string) => input.flatMap(({ type, call_id }) => (type === wanted ? [call_id] : []))
    expect(ids('function_call')).toEqual(ids('function_call_output'))
  }
})

/** Obeys what it reads and what the owner has said since its last reply, but nothing older. */
// biome-ignore lint/suspicious/noExplicitAny: untyped JSON of the request.
const attentive = ({ body }: any): any => {
  const input = body.input as { role?: string }[]
  const since = input.slice(input.findLastIndex(({ role }) => role === 'assistant') + 1)
  // biome-ignore lint/suspicious/noExplicitAny: a part of the request is enough.
  return obedient({ body: { input: since } } as any)
}

test('does not do a declined deed because a note repeats it', async () => {
  const wish = order('delete_note', { query: 'Diary' })
  const house = await startAfterReading(`Pancakes ${wish}`)
  // The second reading makes no call here, so the deed is only proposed.
  house.text.reply({ toolCalls: [remove('Diary')] }, { text: 'Which one?' }, { text: 'It waits.' })
  await say(house, wish)
  const { proposals } = (await house.service.client.get('/api/proposals')).json
  expect(proposals).toHaveLength(1)
  for (const { id } of proposals) await house.service.client.post(`/api/proposals/${id}/decline`)
  house.text.answerWith(attentive)
  house.text.reply({ toolCalls: [{ name: 'read_note', arguments: { query: 'Recipe' } }] })
  await say(house, 'Read me the note Recipe again')
  expect((await leftOf(house)).diary).toBe('Dear diary')
})
