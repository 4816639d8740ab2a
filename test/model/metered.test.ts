import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Meter, WatchedRequest } from '../../src/model/metered.ts'
import { AllowanceSpent, answerOf, type ModelService, type Use } from '../../src/model/port.ts'
import type { ModelPrice } from '../../src/model/prices.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { never, request, setUp } from './openai/fixture.ts'

const PRICE: ModelPrice = { input: 2, output: 10, minute: 0.6 }
const TURN: Use = { purpose: 'reply', channel: 'chat', turnId: 'turn-1' }
const USAGE = { inputTokens: 100, outputTokens: 20, cachedTokens: 0 }

const present = <T>(value: T | null): T => {
  if (value === null) throw new TypeError('the service lacks this port')
  return value
}

/** A metered service on the double, with what was reserved and settled, in order. */
async function metered(price = PRICE, elapsedMs = 0) {
  const log: { use: Use; model: string | undefined; micros: number; settled: number | null }[] = []
  let isSpent = false
  let nowMs = 0
  const meter: Meter = {
    priceOf: () => price,
    async reserve(use, model, micros) {
      if (isSpent) throw new AllowanceSpent('The allowance is used up.')
      const entry = { use, model: model?.model, micros, settled: null as number | null }
      log.push(entry)
      return {
        async settle(amount) {
          expect(entry.settled).toBeNull()
          entry.settled = amount
        },
      }
    },
  }
  const clock = () => {
    nowMs += elapsedMs
    return nowMs
  }
  const ended: WatchedRequest[] = []
  const observe = (watched: WatchedRequest) => void ended.push(watched)
  const { double, service: paid } = await setUp({
    dependencies: { pay: { meter, observe, nowMs: clock } },
  })
  return {
    double,
    paid,
    log,
    ended,
    spend: () => {
      isSpent = true
    },
  }
}

const ask = (service: ModelService, signal = never()) =>
  answerOf(service.text.respond(request({ use: TURN }), signal))

test('reserves the input and the limit that is sent, and settles what the service counted', async () => {
  const { double, paid, log } = await metered()
  double.reply({ text: 'Yes.', usage: USAGE })
  await ask(paid)
  expect(double.requests()[0]?.body.max_output_tokens).toBe(16_000)
  expect(log).toEqual([{ use: TURN, model: 'test-model', micros: expect.any(Number), settled: 400 }])
  const bytes = Buffer.byteLength(JSON.stringify(double.requests()[0]?.body))
  expect(log[0]?.micros).toBeGreaterThan(160_000 + (bytes / 4) * 2)
  expect(log[0]?.micros).toBeLessThan(160_000 + bytes * 2 + 3000)
})

test('meters structured answers, compaction, embeddings and speech', async () => {
  const { double, paid, log } = await metered()
  double.reply({ text: '{"facts":[]}', usage: USAGE })
  const facts = {
    instructions: 'Find facts.',
    input: [],
    name: 'facts',
    schema: z.object({ facts: z.array(z.string()) }),
  }
  await present(paid.utility).answer(facts, never())
  expect(double.requests()[0]?.body.max_output_tokens).toBe(8000)
  const input = [{ type: 'message' as const, role: 'owner' as const, text: 'Hello' }]
  await present(paid.compaction).compact({ instructions: 'Go on.', input }, never())
  await present(paid.embedding).embed(['one', 'two'], never(), { purpose: 'recall', channel: 'chat' })
  await present(paid.speech).transcribe(new Uint8Array(80_000), 'wav', never())
  await present(paid.speech).speak('Ten letters', never())
  expect(log.map(({ use, model }) => `${use.purpose} ${model}`)).toEqual([
    'learning test-model',
    'compaction test-model',
    'recall test-embedding',
    'speech test-transcription',
    'speech test-speech',
  ])
  for (const { micros, settled } of log) expect(settled).toBeLessThanOrEqual(micros)
  expect(log[3]).toMatchObject({ micros: 100_000, settled: 100_000 })
})

test('pays the speech of a call by its length, for the call, also if nobody hears its end', async () => {
  const { double, paid, log } = await metered()
  const use = { purpose: 'call', channel: 'voice' } as const
  const speech = present(paid.speech)
  await speech.transcribe(new Uint8Array(80_000), 'wav', never(), { use, seconds: 5 })
  for await (const _ of speech.stream('A sentence of thirty characters', never(), use)) break
  double.replyTo('/audio/speech', { fault: httpFaults.unauthorised() })
  await expect(speech.stream('Refused', never(), use)[Symbol.asyncIterator]().next()).rejects.toThrow()
  expect(log).toMatchObject([
    { use, model: 'test-transcription', micros: 50_000, settled: 50_000 },
    { use, model: 'test-speech', micros: 31_000, settled: 31_000 },
    { use, model: 'test-speech', settled: 0 },
  ])
})

test('sends nothing that is not affordable', async () => {
  const { double, paid, spend } = await metered()
  spend()
  await expect(ask(paid)).rejects.toThrow(AllowanceSpent)
  await expect(present(paid.embedding).embed(['one'], never())).rejects.toThrow(AllowanceSpent)
  await expect(present(paid.speech).speak('Hello', never())).rejects.toThrow(AllowanceSpent)
  expect(double.requests()).toEqual([])
})

test('pays nothing for a rejected request, and the time of one that was cut off', async () => {
  const rejected = await metered()
  rejected.double.reply({ fault: httpFaults.unauthorised() })
  await expect(ask(rejected.paid)).rejects.toMatchObject({ kind: 'auth' })
  expect(rejected.log).toMatchObject([{ settled: 0 }])

  const cut = await metered(PRICE, 5000)
  cut.double.reply({ text: ['One ', 'two.'], fault: { kind: 'hang', at: 'response.output_text.done' } })
  const stop = new AbortController()
  const events = cut.paid.text.respond(request({ use: TURN }), stop.signal)
  for await (const event of events) if (event.type === 'text.delta') break
  // Five seconds at 200 tokens a second, and the whole input.
  const [entry] = cut.log
  expect(entry?.settled).toBe((entry?.micros ?? 0) - 160_000 + 10_000)
})

test('asks a model that costs nothing as it is, and never meters the builtin one', async () => {
  const { double, paid, log } = await metered({ input: 0, output: 0 })
  double.reply({ text: 'Yes.' })
  await ask(paid)
  expect(double.requests()[0]?.body).not.toHaveProperty('max_output_tokens')
  expect(log).toEqual([])
})

test.each([
  ['that costs money', PRICE],
  ['that costs nothing', { input: 0, output: 0 }],
])('reports each request of a model %s once, when it ends', async (_which, price) => {
  const { double, paid, ended, spend } = await metered(price)
  double.reply({ text: 'Yes.', usage: USAGE }, { fault: httpFaults.unauthorised() })
  await ask(paid)
  await expect(ask(paid)).rejects.toThrow()
  double.reply({ text: ['One ', 'two.'], fault: { kind: 'hang', at: 'response.output_text.done' } })
  for await (const event of paid.text.respond(request({ use: TURN }), never()))
    if (event.type === 'text.delta') break
  await present(paid.embedding).embed(['one'], never())
  const speech = present(paid.speech)
  await speech.transcribe(new Uint8Array(80_000), 'wav', never())
  // Whoever heard enough leaves.
  for await (const _ of speech.stream('A sentence', never())) break
  double.replyTo('/audio/speech', { fault: httpFaults.unauthorised() })
  await expect(speech.speak('Refused', never())).rejects.toThrow()
  expect(ended.map(({ purpose, model, outcome }) => `${purpose} ${model.model} ${outcome}`)).toEqual([
    'reply test-model ok',
    'reply test-model auth',
    'reply test-model aborted',
    'embedding test-embedding ok',
    'speech test-transcription ok',
    'speech test-speech ok',
    'speech test-speech auth',
  ])
  expect(ended[0]?.usage).toEqual(USAGE)
  // What is not sent is no request.
  spend()
  const before = ended.length
  if (price === PRICE) await expect(ask(paid)).rejects.toThrow(AllowanceSpent)
  expect(ended.length).toBe(before)
})

test('drops the limit for a server that refuses it', async () => {
  const { double, paid } = await metered()
  double.reply(
    {
      fault: httpFaults.badRequest(
        "'max_tokens' is too large: 16000. This model's maximum context length is 8192.",
      ),
    },
    { text: 'Yes.' },
  )
  await ask(paid)
  const bodies = double.requests('/responses').map(({ body }) => body.max_output_tokens)
  expect(bodies).toEqual([16_000, undefined])
})
