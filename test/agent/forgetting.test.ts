import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService, type WholeService } from '../support/service.ts'

const CODE = 'heliotrope4417'
const BICYCLE = 'The bicycle stands behind the old library.'

/** A model that repeats what it knows of the locker and of the bicycle, in answers and in capsules alike. */
async function startTeller(options: { directory?: string } = {}) {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerMemoryWith(({ text }) => ({
    text: JSON.stringify({
      candidates: text.includes(CODE)
        ? [
            {
              ...{ kind: 'identity', subject: 'owner', slot: 'locker code', value: CODE },
              ...{ text: `My locker code is ${CODE}`, quote: `My locker code is ${CODE}` },
              ...{ singleValued: true, eventTime: null, validUntil: null, relations: [] },
            },
          ]
        : [],
    }),
  }))
  double.answerWith(({ body, text }) => {
    const asked = JSON.stringify(Array.isArray(body.input) ? body.input.at(-1) : '')
    const known = [
      ...(/locker|capsule/.test(asked) && text.includes(CODE) ? [`The locker opens with ${CODE}.`] : []),
      ...(/bicycle|capsule/.test(asked) && text.includes('library') ? [BICYCLE] : []),
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
  return { double, service, client: service.client, say: sayer(service) }
}

function sayer({ client }: WholeService) {
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
  // What an erasure took with it is written anew between turns, and that may be under way.
  await expect.poll(async () => (await client.post('/api/session/context/compact')).status).toBe(200)
}

const QUESTION = 'What opens the locker, and where is the bicycle?'

test('what the owner had forgotten is no more before the model, and the rest is', async () => {
  const { double, client, say } = await startTeller()
  await say('The bicycle is behind the old library.')
  expect(await say(`My locker code is ${CODE}`)).toContain(CODE)
  await forget(client)
  expect(await say(QUESTION)).toBe(`- ${BICYCLE}`)
  expect(turnRequests(double).at(-1)?.text).not.toContain(CODE)
  const { hits } = (await client.get(`/api/timeline/search?q=${CODE}`)).json
  expect(hits.map(({ type }: { type: string }) => type)).toContain('chat.message.received')
})

test('a capsule and a replacement that tell it go with it, and the next ones are written without it', async () => {
  const directory = testDirectory()
  const { double, service, client, say } = await startTeller({ directory })
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
  const again = await startTeller({ directory })
  expect(await again.say(QUESTION)).toBe(`- ${BICYCLE}`)
})

test('what is forgotten while a compaction is under way is not in what that leaves', async () => {
  const { double, client, say } = await startTeller()
  await say('The bicycle is behind the old library.')
  await say(`My locker code is ${CODE}`)
  const letGo = Promise.withResolvers<void>()
  const asked = turnRequests(double).length
  double.reply({ text: `The locker opens with ${CODE}.`, pause: { at: 0, until: letGo.promise } })
  const compacting = client.post('/api/session/context/compact')
  await expect.poll(() => turnRequests(double).length).toBeGreaterThan(asked)
  await forget(client)
  letGo.resolve()
  expect((await compacting).status).toBe(502)
  expect(await say(QUESTION)).toBe(`- ${BICYCLE}`)
})

test.each(['forgotten', 'erased'])(
  'what is %s takes no answer about what a capsule tells beside it',
  async (how) => {
    const { client, say } = await startTeller()
    await say('The bicycle is behind the old library.')
    await say(`My locker code is ${CODE}`)
    await compact(client)
    const about = await client.post('/api/chat', { content: 'Where is the bicycle?' })
    const told = await client.post('/api/chat', { content: 'What opens the locker?' })
    expect([about.json.reply.text, told.json.reply.text]).toEqual([
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
    expect(textOf(about.json.turnId)).toBe(`- ${BICYCLE}`)
    expect(textOf(told.json.turnId)).toBeUndefined()
  },
)

test('the builtin model, too, does not tell what it was made to forget, learned or not', async () => {
  const directory = testDirectory()
  const first = await startWholeService({ directory })
  const say = sayer(first)
  await say("My sister's birthday is on May 5th.")
  await say('The spare key lies under the blue flowerpot.')
  expect(await say("When is my sister's birthday?")).toContain('May 5th')
  expect(await say('Where is the spare key?')).toContain('flowerpot')
  expect(await say("Forget my sister's birthday")).toMatch(/^Forgotten/)
  expect(await say('Forget where the spare key lies')).toMatch(/^Forgotten/)
  for (const each of [say, null]) {
    const ask = each ?? sayer(await first.stop().then(() => startWholeService({ directory })))
    for (const question of ["When is my sister's birthday?", 'Where is the spare key?']) {
      expect(await ask(question)).toContain('you had me forget')
    }
    expect(await ask('Where is my passport?')).toContain('I find nothing about that')
  }
})
