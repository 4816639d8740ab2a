import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { createClient } from '../http/client.ts'
import { startBenchService } from './service.ts'
import { startServiceProcess } from './service-process.ts'
import { quantile, round } from './statistics.ts'

/**
 * What a chat turn costs beyond the model, against a double that answers at once. Also runs a conversation of
 * ten thousand turns and counts requests that lack its early facts.
 */
const PASSWORD = 'a long walk by the river'
const EARLY_FACT = 'heliotrope'
/** Warm-up of the new conversation, until the service has compiled its hot code. */
const WARM_TURNS = 300
const BLOCK_TURNS = 20

export async function time(samples: number[], work: () => Promise<unknown>): Promise<void> {
  const before = performance.now()
  await work()
  samples.push(performance.now() - before)
}

/** The whole service over a data directory, its own by default, installed and signed in. */
export async function openService(
  environment: Record<string, string>,
  directory = mkdtempSync(join(tmpdir(), 'delegate-bench-')),
) {
  const service = await startBenchService({ DATA_DIR: directory, ...environment })
  const client = createClient(service.port)
  await client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode })
  const close = async () => {
    await service.close()
    rmSync(directory, { recursive: true, force: true })
  }
  return { client, close }
}

async function overhead(turns: number) {
  const double = await startModelDouble({ validate: false, record: false })
  double.answerWith(() => ({ text: 'Yes.', usage: { inputTokens: 100, outputTokens: 2 } }))
  const sdk = new OpenAI({ apiKey: 'sk-bench', baseURL: double.url })
  const bare: number[] = []
  const request = { model: 'test-model', input: 'Hello', stream: true, store: false } as const
  for (let index = 0; index < Math.min(turns, 500) + 50; index += 1) {
    const samples = index < 50 ? [] : bare
    await time(samples, async () => {
      for await (const event of await sdk.responses.create(request)) void event
    })
  }
  const client = await startServiceProcess({
    OPENAI_API_KEY: 'sk-bench-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  })
  const whole: number[] = []
  for (let index = 0; index < turns + 50; index += 1) {
    await time(index < 50 ? [] : whole, () => client.post('/api/chat', { content: `Message ${index}` }))
  }
  await client.close()
  await double.close()
  const p50 = round(quantile(whole, 0.5))
  return {
    turns,
    p50Ms: p50,
    p99Ms: round(quantile(whole, 0.99)),
    bareSdkP50Ms: round(quantile(bare, 0.5)),
    ratio: Number((p50 / quantile(bare, 0.5)).toFixed(2)),
  }
}

async function builtin(turns: number) {
  const client = await startServiceProcess({})
  const samples: number[] = []
  for (let index = 0; index < turns + 50; index += 1) {
    await time(index < 50 ? [] : samples, () => client.post('/api/chat', { content: 'What time is it?' }))
  }
  await client.close()
  return { turns, p50Ms: round(quantile(samples, 0.5)), p99Ms: round(quantile(samples, 0.99)) }
}

/**
 * Whether a turn costs more late in a conversation. The last tenth alternates with turns of a new
 * conversation, so that changes in machine speed affect both. Work left after a reply counts towards the next
 * turn.
 */
async function longConversation(turns: number) {
  // The double's own compaction would keep the full input; a written replacement shrinks it.
  const double = await startModelDouble({ validate: false, record: false, lacks: ['/responses/compact'] })
  let maxRequestBytes = 0
  let forgotten = 0
  double.answerWith(({ body, text }) => {
    maxRequestBytes = Math.max(maxRequestBytes, JSON.stringify(body).length)
    if (!text.includes(EARLY_FACT)) forgotten += 1
    const inputTokens = Math.ceil(text.length / 4)
    return text.includes('Write the capsule now')
      ? { text: `## Established facts\nThe word is ${EARLY_FACT}.`, usage: { inputTokens, outputTokens: 12 } }
      : { text: `Noted: ${EARLY_FACT}.`, usage: { inputTokens, outputTokens: 4 } }
  })
  async function begin() {
    const client = await startServiceProcess({
      OPENAI_API_KEY: 'sk-bench-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
      COMPACT_THRESHOLD_TOKENS: '8000',
    })
    await client.post('/api/chat', { content: `The word is ${EARLY_FACT}.` })
    let said = 1
    const say = (samples: number[]) =>
      time(samples, async () => {
        said += 1
        await client.post('/api/chat', { content: `Turn ${said}: something else entirely, as one says.` })
      })
    return { client, say }
  }
  const window = Math.ceil(turns / 10)
  const old = await begin()
  for (let index = 1; index < turns - window; index += 1) await old.say([])
  const young = await begin()
  for (let index = 0; index < Math.min(window, WARM_TURNS); index += 1) await young.say([])
  const [ofOld, ofYoung]: [number[], number[]] = [[], []]
  for (let index = 0; index < window; index += BLOCK_TURNS) {
    for (let turn = 0; turn < BLOCK_TURNS; turn += 1) await old.say(ofOld)
    for (let turn = 0; turn < BLOCK_TURNS; turn += 1) await young.say(ofYoung)
  }
  const report = await old.client.get('/api/session/operations?hours=24')
  await old.client.close()
  await young.client.close()
  await double.close()
  return {
    turns,
    forgotten,
    maxRequestBytes,
    automaticCompactions: report.context.automaticCompactions,
    lastTenthP50Ms: round(quantile(ofOld, 0.5)),
    youngP50Ms: round(quantile(ofYoung, 0.5)),
    growth: Number((quantile(ofOld, 0.5) / quantile(ofYoung, 0.5)).toFixed(2)),
  }
}

/** Milliseconds per turn with the builtin model and with a double, everything enabled and durable. */
export async function benchTurns(options: { readonly turns: number; readonly longTurns: number }) {
  return {
    overhead: await overhead(options.turns),
    builtin: await builtin(options.turns),
    longConversation: await longConversation(options.longTurns),
  }
}
