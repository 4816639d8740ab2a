import { expect, onTestFinished, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createChainReader } from '../../src/agent/context/chain.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService, type WholeService } from '../support/service.ts'
import { openTestStorage } from '../support/storage.ts'

const CODE = 'heliotrope4417'
const BICYCLE = 'The bicycle stands behind the old library.'

/** A model that repeats what it knows of the locker and the bicycle, in answers and capsules. */
async function startRepeating(options: { directory?: string } = {}) {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerMemoryWith(({ text }) => ({
    text: JSON.stringify({
      candidates: text.includes(CODE)
        ? [
            {
              ...{ kind: 'identity', subject: 'owner', slot: 'locker code', value: CODE },
              ...{ text: `My locker code is ${CODE}`, quote: `My locker code is ${CODE}` },
              ...{ modality: 'asserted', speaker: 'owner', secrecy: 'keep', ends: null },
              ...{ singleValued: true, eventTime: null, validUntil: null, relations: [] },
            },
          ]
        : [],
    }),
  }))
  double.answerWith(({ body, text }) => {
    const lastItem = JSON.stringify(Array.isArray(body.input) ? body.input.at(-1) : '')
    const known = [
      ...(/locker|capsule/.test(lastItem) && text.includes(CODE) ? [`The locker opens with ${CODE}.`] : []),
      ...(/bicycle|capsule/.test(lastItem) && text.includes('library') ? [BICYCLE] : []),
    ]
    return {
      text: known.length === 0 ? 'Nothing is known.' : known.map((each) => `- ${each}`).join('\n'),
      usage: { inputTokens: Math.ceil(text.length / 4), outputTokens: 20 },
    }
  })
  const service = await startWholeService({
    ...options,
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
    },
  })
  return { double, service, client: service.client, say: sayTo(service) }
}

function sayTo({ client }: WholeService) {
  return async (content: string): Promise<string> => {
    const answer = await client.post('/api/chat', { content })
    expect(answer.status, answer.text).toBe(200)
    return answer.json.reply.text
  }
}

async function forget(client: WholeService['client']): Promise<void> {
  const memories = async () => (await client.get('/api/memories')).json.memories as { id: string }[]
  await expect.poll(async () => (await memories()).length).toBe(1)
  const [memory] = await memories()
  expect((await client.delete(`/api/memories/${memory?.id}`)).status).toBeLessThan(300)
}

async function compact(client: WholeService['client']): Promise<void> {
  // After an erasure, capsules are rewritten between turns, which may still be in progress.
  await expect.poll(async () => (await client.post('/api/session/context/compact')).status).toBe(200)
}

const QUESTION = 'What opens the locker, and where is the bicycle?'

test('keeps forgotten words from the model, and the rest available', async () => {
  const { double, client, say } = await startRepeating()
  await say('The bicycle is behind the old library.')
  expect(await say(`My locker code is ${CODE}`)).toContain(CODE)
  await forget(client)
  expect(await say(QUESTION)).toBe(`- ${BICYCLE}`)
  expect(turnRequests(double).at(-1)?.text).not.toContain(CODE)
  const found = async (words: string) =>
    (await client.get(`/api/timeline/search?q=${words}`)).json.hits.length
  expect([await found(CODE), (await found('bicycle')) > 0]).toEqual([0, true])
  expect((await client.get('/api/timeline')).text).toContain(CODE)
  // What is left out does not end a page early.
  const page = (await client.get('/api/timeline/search?q=locker&limit=1')).json
  expect(page.hits).toHaveLength(page.nextCursor === null ? 0 : 1)
})

test('forgets a capsule and a replacement with their source, and rewrites them without it', async () => {
  const directory = testDirectory()
  const { double, service, client, say } = await startRepeating({ directory })
  await say('The bicycle is behind the old library.')
  await say(`My locker code is ${CODE}`)
  await compact(client)
  expect(await say(QUESTION)).toContain(CODE)
  await forget(client)
  expect(await say(QUESTION)).toBe(`- ${BICYCLE}`)
  await compact(client)
  expect(turnRequests(double).at(-1)?.text).not.toContain(CODE)
  expect(await say(QUESTION)).toBe(`- ${BICYCLE}`)
  await service.stop()
  const again = await startRepeating({ directory })
  expect(await again.say(QUESTION)).toBe(`- ${BICYCLE}`)
})

test('discards a compaction whose source is forgotten while it runs', async () => {
  const { double, client, say } = await startRepeating()
  await say('The bicycle is behind the old library.')
  await say(`My locker code is ${CODE}`)
  const released = Promise.withResolvers<void>()
  const requestsBefore = turnRequests(double).length
  double.reply({ text: `The locker opens with ${CODE}.`, pause: { at: 0, until: released.promise } })
  const compacting = client.post('/api/session/context/compact')
  await expect.poll(() => turnRequests(double).length).toBeGreaterThan(requestsBefore)
  await forget(client)
  released.resolve()
  expect((await compacting).status).toBe(502)
  expect(await say(QUESTION)).toBe(`- ${BICYCLE}`)
})

test.each(['forgotten', 'erased'])(
  'takes only the quoted words out of answers given from a capsule (%s source)',
  async (how) => {
    const { client, say } = await startRepeating()
    await say('The bicycle is behind the old library.')
    await say(`My locker code is ${CODE}`)
    await compact(client)
    const bicycleAnswer = await client.post('/api/chat', { content: 'Where is the bicycle?' })
    const lockerAnswer = await client.post('/api/chat', { content: 'What opens the locker?' })
    expect([bicycleAnswer.json.reply.text, lockerAnswer.json.reply.text]).toEqual([
      `- ${BICYCLE}`,
      `- The locker opens with ${CODE}.`,
    ])
    const timeline = async () =>
      (await client.get('/api/timeline?limit=500')).json.events as {
        seq: number
        type: string
        turnId: string
        payload: { text?: string; erased?: boolean }
      }[]
    if (how === 'forgotten') await forget(client)
    else {
      const said = (await timeline()).find(({ payload }) => payload.text === `My locker code is ${CODE}`)
      expect((await client.delete(`/api/timeline/events/${said?.seq}`)).status).toBe(200)
    }
    const replies = (await timeline()).filter(({ type }) => type === 'chat.reply.sent')
    const textOf = (turnId: string) => replies.find((reply) => reply.turnId === turnId)?.payload.text
    expect(textOf(bicycleAnswer.json.turnId)).toBe(`- ${BICYCLE}`)
    expect(textOf(lockerAnswer.json.turnId)).toBe('- The locker opens with [erased].')
  },
)

/** A model with scripted replies, and a memory of the cat’s name. */
async function startScripted() {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  const said = 'My cat is called Minka'
  double.answerMemoryWith(({ text }) => ({
    text: JSON.stringify({
      candidates: text.includes(said)
        ? [
            {
              ...{ kind: 'relation', subject: 'owner', slot: 'cat', value: 'Minka', text: said, quote: said },
              ...{ modality: 'asserted', speaker: 'owner', secrecy: 'keep', ends: null },
              ...{ singleValued: true, eventTime: null, validUntil: null, relations: [] },
            },
          ]
        : [],
    }),
  }))
  const service = await startWholeService({
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
    },
  })
  const send = sayTo(service)
  const say = (content: string, text: string) => {
    double.reply({ text })
    return send(content)
  }
  await say(said, 'Noted.')
  return { double, client: service.client, send, say }
}

test('erases a reply that only repeats forgotten words, and redacts any other', async () => {
  const { double, client, say } = await startScripted()
  await say('What is my cat called?', 'Minka.')
  await say('Who sang in the opera?', 'Minka Popp, a soprano.')
  await forget(client)
  await say('What is my cat called?', 'I do not know.')
  expect(turnRequests(double).at(-1)?.text).not.toContain('Minka')
  const { events } = (await client.get('/api/timeline')).json
  const replies = events.filter(({ type }: { type: string }) => type === 'chat.reply.sent')
  expect(replies.map(({ payload }: { payload: object }) => payload)).toMatchObject([
    { text: 'Noted.' },
    { erased: true },
    { text: '[erased] Popp, a soprano.', redacted: true },
    { text: 'I do not know.' },
  ])
})

test('hides from the next turn a reply whose source was forgotten while it was written', async () => {
  const { double, client, send, say } = await startScripted()
  await expect.poll(async () => (await client.get('/api/memories')).json.memories.length).toBe(1)
  const released = Promise.withResolvers<void>()
  const requestsBefore = turnRequests(double).length
  double.reply({ text: 'It is Minka.', pause: { at: 0, until: released.promise } })
  const running = send('And what is it?')
  await expect.poll(() => turnRequests(double).length).toBeGreaterThan(requestsBefore)
  await forget(client)
  released.resolve()
  await running
  await say('Hello again', 'Hello.')
  expect(turnRequests(double).at(-1)?.text).not.toContain('Minka')
})

test('keeps a pending erasure from the model, and shows it again after an undo', async () => {
  const { double, client, say } = await startScripted()
  const list = async () => (await client.get('/api/memories')).json.memories as { id: string }[]
  await expect.poll(async () => (await list()).length).toBe(1)
  const [memory] = await list()
  const requested = await client.post('/api/erasures', { kind: 'memory', id: memory?.id })
  expect(requested.status, requested.text).toBeLessThan(300)
  await say('Hello', 'Hello.')
  expect(turnRequests(double).at(-1)?.text).not.toContain('Minka')
  const undone = await client.post(`/api/erasures/${requested.json.id}/undo`)
  expect(undone.status, undone.text).toBe(200)
  await say('Hello again', 'Hello.')
  expect(turnRequests(double).at(-1)?.text).toContain('Minka')
})

test('builds no chain on a base that repeats hidden or barred words', async () => {
  const { append, views, ledger } = await openTestStorage(testDirectory())
  const model = { provider: 'p', model: 'm' }
  const place = { conversationId: 'c', channel: 'inner' as const, actor: 'service' as const }
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
  const add = async (event: NewEvent): Promise<number> => {
    const appended = await append([event])
    return (appended.status === 'appended' && appended.events[0]?.seq) || 0
  }
  const said = (text: string): NewEvent => ({
    type: 'chat.message.received',
    actor: 'owner',
    conversationId: 'c',
    channel: 'chat',
    facts: {},
    body: { text },
  })
  const replaced = (text: string, throughSeq: number, derivedFrom: readonly number[]): NewEvent => ({
    type: 'context.compaction.succeeded',
    ...place,
    derivedFrom,
    facts: {
      ...{ compactionId: text, source: 'manual', method: 'model', model, throughSeq, usage },
      ...{ inputTokensBefore: 10, inputTokensAfter: 5 },
    },
    body: { text, replacement: null },
  })
  await add({ type: 'conversation.started', actor: 'service', conversationId: 'c', facts: {} })
  const bicycle = await add(said(BICYCLE))
  const early = await add(replaced('about the bicycle', bicycle, [bicycle]))
  const secret = await add(said(`My locker code is ${CODE}`))
  const telling = await add(replaced(`it is ${CODE}`, secret, [early, secret]))
  const later = await add(replaced(`still ${CODE}`, secret, [telling]))
  const chain = createChainReader(views, ledger)
  expect((await chain.read('c', model)).base?.row.seq).toBe(later)
  const hidden = { erasureId: 'e', seqs: [telling], part: 0, parts: 1 }
  await add({
    type: 'erasure.requested',
    actor: 'owner',
    facts: {
      ...{ ...hidden, target: 'message', targetId: '1', from: null, to: null, kinds: [] },
      eraseAt: new Date().toISOString(),
    },
  })
  await add({ type: 'memory.sources.barred', actor: 'owner', facts: { sourceSeqs: [secret], by: 'owner' } })
  expect((await chain.read('c', model)).base?.row.seq).toBe(early)
  await add({ type: 'erasure.undone', actor: 'owner', facts: hidden })
  for (const reader of [chain, createChainReader(views, ledger)]) {
    const read = await reader.read('c', model)
    expect(read.base?.row.seq).toBe(early)
    expect(JSON.stringify(read.items)).not.toContain(CODE)
  }
})

test('keeps forgotten words out of the builtin model’s answers, learned or not', async () => {
  const directory = testDirectory()
  const first = await startWholeService({ directory })
  const say = sayTo(first)
  await say("My sister's birthday is on May 5th.")
  await say('The spare key lies under the blue flowerpot.')
  expect(await say("When is my sister's birthday?")).toContain('May 5th')
  expect(await say('Where is the spare key?')).toContain('flowerpot')
  expect(await say("Forget my sister's birthday")).toMatch(/^Forgotten/)
  expect(await say('Forget where the spare key lies')).toMatch(/^Forgotten/)
  for (const each of [say, null]) {
    const ask = each ?? sayTo(await first.stop().then(() => startWholeService({ directory })))
    for (const question of ["When is my sister's birthday?", 'Where is the spare key?']) {
      expect(await ask(question)).toContain('asked me to forget')
    }
    expect(await ask('Where is my passport?')).toContain('I found nothing about that')
  }
})

test('forgets a message that recall showed beside an earlier request to forget it', async () => {
  const { client } = await startWholeService()
  const said = 'My sister Anna has a job in Cardiff.'
  const sayAlone = async (content: string): Promise<string> => {
    const { json } = await client.post('/api/chat', { content })
    await client.post(`/api/conversations/${json.conversationId}/end`)
    return json.reply.text
  }
  // Too slow a recall would show nothing.
  await client.put('/memory-config', { retrieveTimeoutMs: 5000 })
  await sayAlone(said)
  await sayAlone('The weather is nice today.')
  expect(await sayAlone('What did I say about Cardiff?')).toContain(said)
  expect(await sayAlone('Forget that my sister Anna has a job in Cardiff.')).toMatch(/^Forgotten/)
})
