import type { Day, Life } from './life.ts'

/**
 * Erases by every kind of target: planned, undone and carried out, including replies that quote the words.
 */
export async function erasuresDay(life: Life): Promise<void> {
  const day = await life.begin('2026-11-07T08:00:00.000Z')
  await undone(life, day)
  // A reply that also says something else loses only the erased words.
  await carriedOut(day, await erase(day, { kind: 'memory', id: await memoryId(day, 'heliotrope') }))
  await named(day)
  await inWords(day)
  await day.end()
}

async function erase(day: Day, target: object): Promise<string> {
  return (await day.post('/api/erasures', target)).json.id
}

async function carriedOut(day: Day, id: string): Promise<void> {
  day.clock.pass(61_000)
  await day.until('the erasure', async () => {
    return (await day.client.get(`/api/erasures/${id}`)).json.status === 'erased'
  })
}

async function memoryId(day: Day, words: string): Promise<string> {
  const { memories } = (await day.client.get('/api/memories?limit=200')).json
  const found = memories.find(({ text }: { text: string }) => text.includes(words))
  if (!found) throw new Error(`no memory about ${words}`)
  return found.id
}

async function undone(life: Life, day: Day): Promise<void> {
  life.model.worth.push({
    quote: 'I collect heliotrope seeds',
    kind: 'preference',
    slot: 'collection',
    value: 'heliotrope seeds',
    text: 'The owner collects heliotrope seeds',
  })
  await day.say('I collect heliotrope seeds.', {
    text: 'You collect heliotrope seeds: noted. The ferry leaves at nine.',
  })
  await day.quiet()
  const id = await erase(day, { kind: 'memory', id: await memoryId(day, 'heliotrope') })
  await day.post(`/api/erasures/${id}/undo`)
}

async function named(day: Day): Promise<void> {
  const note = (await day.post('/api/notes', { title: 'Diary', content: 'Dear diary.' })).json
  await day.send('PUT', `/api/notes/${note.id}`, { content: 'Dear diary, it rains.' })
  await carriedOut(day, await erase(day, { kind: 'note', id: note.id }))
  await carriedOut(day, await erase(day, { kind: 'adaptation', id: 'mornings' }))
  await day.say('This is to go as a message.', { text: 'This as well.' })
  const said = await day.seen('chat.message.received')
  await day.send('DELETE', `/api/timeline/events/${said.seq}`)
  await day.say('This is to go as a period.', { text: 'All of it.' })
  await day.quiet()
  const { at } = await day.seen('chat.message.received')
  const to = new Date(Date.parse(at) + 1).toISOString()
  await carriedOut(day, await erase(day, { kind: 'period', from: at, to }))
  const closed = (await day.events()).findLast(
    ({ type, channel }) => type === 'call.utterance.heard' && channel === 'voice',
  )
  await day.send('DELETE', `/api/timeline/spans/${closed?.spanId}`)
}

async function inWords(day: Day): Promise<void> {
  const forget = (query: string) => ({ toolCalls: [{ name: 'forget', arguments: { query } }] })
  await day.say('The marmalade is on the upper shelf, behind the quinces.', { text: 'All right.' })
  await day.quiet()
  await day.post(`/api/conversations/${(await day.seen('chat.message.received')).conversationId}/end`)
  const ask = async (content: string) => {
    await day.say(content, forget('marmalade quinces'), { text: 'It waits for you.' })
    // The conversation contains foreign words, so the owner must confirm.
    const [proposal] = (await day.client.get('/api/proposals')).json.proposals
    await day.post(`/api/proposals/${proposal.id}/confirm`)
  }
  await ask('Forget about the marmalade and the quinces.')
  await day.say(
    'No, undo that.',
    { toolCalls: [{ name: 'undo_forget', arguments: {} }] },
    { text: 'It is back.' },
  )
  await ask('Forget about the marmalade and the quinces after all.')
  day.clock.pass(61_000)
  await day.quiet()
}
