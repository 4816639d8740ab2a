import { expect, test } from 'vitest'
import { filesHolding } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

type Event = { seq: number; type: string; payload: Record<string, unknown> }

/** The service with its builtin model and a clock that the test moves. */
async function startTalking() {
  let skewMs = 0
  const service = await startWholeService({ nowMs: () => Date.now() + skewMs })
  const { client } = service
  const say = async (content: string): Promise<string> => {
    const answer = await client.post('/api/chat', { content })
    expect(answer.status, answer.text).toBe(200)
    return answer.json.reply.text
  }
  const memories = async (): Promise<string[]> =>
    (await client.get('/api/memories')).json.memories.map(({ text }: { text: string }) => text)
  const events = async (): Promise<Event[]> => (await client.get('/api/timeline?limit=5000')).json.events
  const erasures = async (): Promise<{ id: string; status: string }[]> =>
    (await client.get('/api/erasures')).json.erasures
  const laterErased = async () => {
    skewMs += 61_000
    await expect.poll(async () => (await erasures())[0]?.status).toBe('erased')
  }
  return { service, client, say, memories, events, erasures, laterErased }
}

test('leaves unrelated timers and replies alone when a memory is forgotten', async () => {
  const { client, say, memories, events, laterErased } = await startTalking()
  await say("Remember I'm allergic to peanuts")
  await say('Remind me in 2 hours to check the oven')
  await say('Hello')
  const before = await events()
  expect(await memories()).toHaveLength(1)
  expect(await say("Forget that I'm allergic to peanuts")).toMatch(/forgotten/i)
  expect(await memories()).toEqual([])
  await laterErased()

  const { timers } = (await client.get('/api/timers')).json
  expect(timers).toMatchObject([{ title: expect.stringMatching(/check the oven/i) }])
  const after = new Map((await events()).map((event) => [event.seq, event]))
  const replies = before.filter(({ type }) => type === 'chat.reply.sent')
  const [toMemory, toTimer, toGreeting] = replies.map(({ seq }) => after.get(seq)?.payload)
  expect(JSON.stringify(toMemory)).not.toMatch(/peanut/i)
  expect(toTimer).toEqual(replies[1]?.payload)
  expect(toGreeting).toEqual(replies[2]?.payload)
  // The words stay in the messages only.
  const telling = [...after.values()].filter((event) => /peanut/i.test(JSON.stringify(event.payload)))
  expect(new Set(telling.map(({ type }) => type))).toEqual(new Set(['chat.message.received']))
})

test('leaves the request for another reminder alone when a message is erased', async () => {
  const { client, say, events, laterErased } = await startTalking()
  await say('remind me in 20 minutes to call the clinic')
  await say('remind me tomorrow at 9 to water the orchids')
  const [message] = (await events()).filter(({ type }) => type === 'chat.message.received')
  expect((await client.delete(`/api/timeline/events/${message?.seq}`)).status).toBe(200)
  await laterErased()
  const calls = (await events()).filter(({ type }) => type === 'tool.called')
  const [toCall, toWater] = calls.map(({ payload }) => payload.arguments)
  expect(toCall).toBeUndefined()
  expect(toWater).toMatch(/Water the orchids/)
})

test('leaves in a reply what another memory says in the same words', async () => {
  const { client, say, events, laterErased } = await startTalking()
  await say('Remember that my brother Tom lives in Leeds')
  await say('Remember that my aunt Vera lives in Leeds')
  expect(await say('What do you know about Leeds?')).toMatch(/Tom lives in Leeds/)
  const { memories } = (await client.get('/api/memories')).json
  const aunt = memories.find(({ text }: { text: string }) => /Vera/.test(text))
  expect((await client.delete(`/api/memories/${aunt.id}`)).status).toBe(204)
  await laterErased()
  const redacted = (await events()).filter(({ type }) => type === 'reply.redacted')
  const texts = redacted.map(({ payload }) => String(payload.text))
  expect(texts.some((text) => /brother Tom lives in Leeds/.test(text))).toBe(true)
  expect(texts.join()).not.toMatch(/Vera/)
})

test('forgets nothing on a partial match but offers a choice', async () => {
  const { say, memories, erasures } = await startTalking()
  await say('Remember that my job is at the harbour office in Leeds')
  await say('Remember that I never, ever eat coriander')
  expect(await memories()).toHaveLength(2)
  for (const vague of ['Forget my Cardiff job', 'Forget that ever came up']) await say(vague)
  expect(await memories()).toHaveLength(2)
  expect(await erasures()).toEqual([])
})

test('restores everything when a forget in chat is undone within a minute', async () => {
  const { service, client, say, memories, events, erasures, laterErased } = await startTalking()
  await say('Remember that my locker code is quokka4711')
  await say('What is my locker code?')
  const texts = async () =>
    (await events())
      .filter(
        ({ type, payload }) => type === 'chat.reply.sent' && String(payload.text).includes('quokka4711'),
      )
      .map(({ payload }) => payload)
  const before = await texts()
  await say('Forget my locker code')
  expect(await memories()).toEqual([])
  const [first] = await erasures()
  const { plan } = (await client.get(`/api/erasures/${first?.id}`)).json
  expect(plan.named).toMatchObject([
    { kind: 'memory', count: 1, items: [{ text: expect.stringMatching(/locker/) }] },
  ])
  expect(plan.derived.map(({ kind }: { kind: string }) => kind)).toEqual(['reply', 'step'])
  expect(plan.stays.map(({ kind }: { kind: string }) => kind)).toEqual(['message'])
  expect((await client.post(`/api/erasures/${first?.id}/undo`)).status).toBe(200)
  expect(await memories()).toHaveLength(1)
  expect(await texts()).toEqual(expect.arrayContaining(before))

  await say('Forget my locker code')
  await laterErased()
  expect((await client.get(`/api/erasures/${(await erasures())[0]?.id}`)).json.plan).toBeNull()
  expect((await client.post(`/api/erasures/${(await erasures())[0]?.id}/undo`)).json.code).toBe('not_pending')
  const holding = (await events()).filter((event) => JSON.stringify(event.payload).includes('quokka4711'))
  expect(holding.every(({ type }) => type === 'chat.message.received')).toBe(true)
  // The messages themselves need their own erasure.
  for (const { seq } of holding) await client.delete(`/api/timeline/events/${seq}`)
  expect(filesHolding(service.directory, 'quokka4711')).toEqual([])
})

test('hides the words of two forgets in one reply and undoes each separately', async () => {
  const { service, client, say, events, laterErased } = await startTalking()
  for (const fact of ['allergic to peanuts', 'fond of marzipan', 'afraid of wombatsilk'])
    await say(`Remember that I am ${fact}`)
  await say('What do you know about me?')
  const listing = (await events()).findLast(({ type }) => type === 'chat.reply.sent')?.seq ?? 0
  const shownWords = async () => {
    const reply = (await events()).find(({ seq }) => seq === listing)
    const text = String(reply?.payload.text)
    return ['peanuts', 'marzipan', 'wombatsilk'].filter((word) => text.includes(word))
  }
  expect(await shownWords()).toHaveLength(3)
  const { memories } = (await client.get('/api/memories')).json
  const forget = async (word: string): Promise<string> => {
    const { id } = memories.find(({ text }: { text: string }) => text.includes(word))
    return (await client.post('/api/erasures', { kind: 'memory', id })).json.id
  }
  const undo = (id: string) => client.post(`/api/erasures/${id}/undo`)

  const peanuts = await forget('peanuts')
  expect(await shownWords()).toEqual(['marzipan', 'wombatsilk'])
  const marzipan = await forget('marzipan')
  expect(await shownWords()).toEqual(['wombatsilk'])
  await undo(peanuts)
  expect(await shownWords()).toEqual(['peanuts', 'wombatsilk'])
  await undo(marzipan)
  expect(await shownWords()).toHaveLength(3)

  await forget('peanuts')
  await forget('marzipan')
  await laterErased()
  expect(await shownWords()).toEqual(['wombatsilk'])
  // The redacted reply can still be erased.
  expect((await client.delete(`/api/timeline/events/${listing}`)).json.erased).toBeGreaterThan(0)
  expect(await shownWords()).toEqual([])
  for (const { seq, type, payload } of await events()) {
    if (type === 'chat.message.received' && /wombatsilk/.test(String(payload.text)))
      await client.delete(`/api/timeline/events/${seq}`)
  }
  await expect.poll(() => filesHolding(service.directory, 'wombatsilk')).toEqual([])
})
