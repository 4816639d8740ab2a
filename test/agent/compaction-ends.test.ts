// @module-tag long

import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { isMemoryRequest, startModelDouble } from '../doubles/model/model-double.ts'
import { httpFaults, type Reply } from '../doubles/model/script.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

type Event = { readonly seq: number; readonly type: string; readonly payload: Record<string, unknown> }

const CAPSULE: Reply = { text: '## Where we are\nWe talk about gardens.' }
/** How the model answers a request for a capsule. */
const MOODS = {
  well: CAPSULE,
  'with nothing': { text: '' },
  'at length': { text: 'We talk about gardens. '.repeat(2000) },
  'with a refusal': { fault: httpFaults.badRequest('no') },
  'with a failure': { fault: httpFaults.serverError() },
} satisfies Record<string, Reply>
type Mood = keyof typeof MOODS

const isCapsuleRequest = (body: Record<string, unknown>) =>
  JSON.stringify(body.input).includes('Write the capsule now.')

/** A service with a low threshold. Its model calls the tool named in the last message. */
async function startTalkative() {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  let mood: Mood = 'well'
  let longestChars = Number.POSITIVE_INFINITY
  double.answerWith(({ body }) => {
    const input = Array.isArray(body.input) ? body.input : []
    const chars = JSON.stringify(body).length
    const usage = { inputTokens: Math.ceil(chars / 4), outputTokens: 50 }
    if (isCapsuleRequest(body)) return { ...MOODS[mood], usage }
    if (chars > longestChars) return { fault: httpFaults.contextTooLong() }
    const last = JSON.stringify(input.at(-1))
    if (last.includes('Search.')) {
      const search = { query: 'gardens', channel: null, from: null, to: null }
      return { toolCalls: [{ name: 'search_timeline', arguments: search }], usage }
    }
    if (last.includes('Remember.')) {
      const text = `My garden has ${chars} roses`
      return { toolCalls: [{ name: 'remember', arguments: { text } }], usage }
    }
    return { text: 'Roses want sun and water. '.repeat(300), usage }
  })
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
    COMPACT_THRESHOLD_TOKENS: '4000',
    CAPSULE_TRIGGER_TOKENS: '500',
    LONG_ANSWER_CHARS: '100000',
  }
  const directory = testDirectory()
  const start = () => startWholeService({ directory, environment, modelLimits: { attempts: 1 } })
  let service = await start()
  const eventsNow = async (): Promise<Event[]> =>
    (await service.client.get('/api/timeline?limit=5000')).json.events
  return {
    capsules: () => double.requests('/responses').filter(({ body }) => isCapsuleRequest(body)),
    requests: () => double.requests().filter((request) => !isMemoryRequest(request)).length,
    eventsNow,
    say: (content: string) => service.client.post('/api/chat', { content }),
    erase: (seq: number) => service.client.delete(`/api/timeline/events/${seq}`),
    async forgetOne() {
      const [memory] = (await service.client.get('/api/memories')).json.memories
      if (memory) await service.client.delete(`/api/memories/${memory.id}`)
    },
    setMood(next: Mood) {
      mood = next
    },
    setWindow(chars: number) {
      longestChars = chars
    },
    async restart() {
      await service.stop()
      service = await start()
    },
    stop: () => service.stop(),
  }
}

test('compacts a conversation that holds an erased tool result, one request a round', {
  timeout: 20_000,
}, async () => {
  const { capsules, eventsNow, say, erase } = await startTalkative()
  await say('Search.')
  const result = (await eventsNow()).find(({ type }) => type === 'tool.returned')
  expect((await erase(result?.seq ?? 0)).status).toBe(200)
  for (let turn = 0; turn < 3; turn += 1) expect((await say('Tell me more of roses.')).status).toBe(200)
  const compactions = async () =>
    (await eventsNow()).filter(({ type }) => type === 'context.compaction.succeeded')
  await expect.poll(compactions).not.toEqual([])
  expect((await say('Thank you')).status).toBe(200)
  for (const { payload } of await compactions()) expect(payload.erased).toBeUndefined()
  expect(capsules().length).toBeLessThanOrEqual(8)
})

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('Tell me more of roses.', 'Search.', 'Remember.') },
    { weight: 3, arbitrary: fc.record({ erase: fc.nat() }) },
    { weight: 1, arbitrary: fc.constant('forget' as const) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
    { weight: 1, arbitrary: fc.record({ window: fc.constantFrom(30_000, 60_000, 1_000_000) }) },
    { weight: 1, arbitrary: fc.record({ mood: fc.constantFrom(...(Object.keys(MOODS) as Mood[])) }) },
  ),
  { minLength: 6, maxLength: 14 },
)

/** Two rounds, and compaction within and after the turn: each up to eight rounds of two requests. */
const MOST_REQUESTS = 2 + 2 * 8 * 2 + 1

test('ends each turn within bounded requests under any erasure and compaction failure', {
  timeout: 180_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const { requests, eventsNow, say, erase, forgetOne, setMood, setWindow, restart, stop } =
        await startTalkative()
      let messages = 0
      const talk = async (words: string) => {
        messages += 1
        const { status } = await say(words)
        expect([200, 502]).toContain(status)
      }
      for (const step of all) {
        if (step === 'forget') await forgetOne()
        else if (step === 'restart') await restart()
        else if (typeof step === 'string') await talk(step)
        else if ('mood' in step) setMood(step.mood)
        else if ('window' in step) setWindow(step.window)
        else {
          const events = await eventsNow()
          const { seq } = events[step.erase % Math.max(1, events.length)] ?? { seq: 1 }
          await erase(seq)
        }
      }
      setMood('well')
      setWindow(Number.POSITIVE_INFINITY)
      messages += 1
      expect((await say('Goodbye')).status).toBe(200)
      expect(requests()).toBeLessThanOrEqual(messages * MOST_REQUESTS)
      await stop()
    }),
    { numRuns: 4 },
  )
})
