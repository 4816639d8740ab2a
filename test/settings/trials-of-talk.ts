import { vi } from 'vitest'
import { isMemoryRequest } from '../doubles/model/model-double.ts'
import type { Trials } from './trial.ts'
import type { World } from './world.ts'

const RECORDING = { audioBase64: Buffer.from('RIFF of a recording').toString('base64'), format: 'wav' }
const LONG = `Begin. ${'A sentence of the long answer. '.repeat(20)}`
const callInternals = (session: unknown) =>
  session as { audio: { input: { transcription: { model: string } }; output: { voice: string } } }

async function lastTurn({ say, model }: World) {
  await say('What time is it?')
  return model.requests('/responses').findLast((request) => !isMemoryRequest(request))
}

export const modelTrials = {
  OPENAI_API_KEY: {
    values: ['sk-the-first-key', 'sk-the-second-key'],
    see: async (world) => (await lastTurn(world))?.headers.authorization,
    expected: (key) => `Bearer ${key}`,
  },
  OPENAI_BASE_URL: {
    values: ({ otherModels }) => [otherModels.url],
    async see({ say, otherModels }) {
      const before = otherModels.requests('/responses').length
      const { reply } = await say('Who are you?')
      return [reply.text, otherModels.requests('/responses').length > before]
    },
    expected: () => ['From elsewhere.', true],
  },
  MODEL_API: {
    values: ['completions', 'responses'],
    async see({ say, model }) {
      await say('What time is it?')
      const turns = model.requests().filter((request) => request.text !== '' && !isMemoryRequest(request))
      return turns.at(-1)?.path === '/responses' ? 'responses' : 'completions'
    },
  },
  CHAT_MODEL: {
    values: ['chat-one', 'chat-two'],
    see: async (world) => (await lastTurn(world))?.body.model,
  },
  CONTEXT_TOKENS: {
    values: [4_096, 32_000],
    see: async (world) => JSON.stringify((await lastTurn(world))?.body.tools).includes('more_tools'),
    expected: (tokens) => tokens === 4_096,
  },
  UTILITY_MODEL: {
    values: ['utility-one', 'utility-two'],
    async see({ say, ok, client, model, until }, value) {
      const asked = () => model.requests('/responses').filter(isMemoryRequest)
      const before = asked().length
      const { conversationId } = await say('My sister is called Ada, and she lives in Porto.')
      await ok(client.post(`/api/conversations/${conversationId}/end`))
      // Requests in progress when the setting changed may still come first.
      const models = () =>
        asked()
          .slice(before)
          .map(({ body }) => body.model)
      return (await until('what memory asks', models, (all) => all.includes(value))).at(-1)
    },
  },
  EMBEDDING_MODEL: {
    values: ['vectors-one', 'vectors-two'],
    async see({ say, model, until }, value) {
      const asked = () => model.requests('/embeddings')
      const before = asked().length
      await say('My brother is called Karl.')
      const models = () =>
        asked()
          .slice(before)
          .map(({ body }) => body.model)
      return (await until('what is embedded', models, (all) => all.includes(value))).at(-1)
    },
  },
  REALTIME_MODEL: {
    values: ['calls-one', 'calls-two'],
    see: async ({ ring }) => new URL((await ring()).path, 'ws://x').searchParams.get('model'),
  },
  REALTIME_VOICE: {
    values: ['cedar', 'marin'],
    see: async ({ ring }) => callInternals((await ring()).session).audio.output.voice,
  },
  TRANSCRIPTION_MODEL: {
    values: ['ears-one', 'ears-two'],
    see: async ({ ring }) => callInternals((await ring()).session).audio.input.transcription.model,
  },
  SPEECH_MODEL: {
    values: ['speech-one', 'speech-two'],
    given: { TRANSCRIPTION_MODEL: 'ears' },
    async see({ ok, client, model }) {
      await ok(client.post('/_dev/walkie/voice', RECORDING))
      return model.requests('/audio/speech').at(-1)?.body.model
    },
  },
  MODEL_FIRST_EVENT_SECONDS: {
    values: [5],
    async see({ client, model }) {
      const hung = Promise.withResolvers<void>()
      model.reply({ text: 'Late.', pause: { at: 'headers', until: hung.promise } })
      // Long waits pass a hundred times as fast.
      const wait = setTimeout
      vi.stubGlobal('setTimeout', (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
        wait(run, ms > 500 ? ms / 100 : ms, ...given),
      )
      const { json } = await client
        .post('/api/chat', { content: 'Are you there?' })
        .finally(() => vi.unstubAllGlobals())
      hung.resolve()
      return Number(/within (\d+) seconds/.exec(json.detail)?.[1])
    },
  },
} as const satisfies Trials

export const conversationTrials = {
  COMPACT_THRESHOLD_TOKENS: {
    values: [2_000_000, 2_000],
    async see({ say, ok, client, model, until }, value) {
      const context = () => ok(client.get('/api/session/context'))
      const before = (await context()).latestCompaction?.at
      for (const words of ['One', 'Two']) {
        model.reply({ text: 'Yes.', usage: { inputTokens: 6_000, outputTokens: 10 } })
        await say(words)
      }
      if (value === 2_000)
        await until('a compaction', context, ({ latestCompaction }) => latestCompaction?.at !== before)
      const { compactThresholdTokens, latestCompaction } = await context()
      return [compactThresholdTokens, latestCompaction?.source]
    },
    expected: (value) => [value, value === 2_000 ? 'automatic' : undefined],
  },
  CAPSULE_TRIGGER_TOKENS: {
    values: [2_000_000, 500],
    given: { COMPACT_THRESHOLD_TOKENS: 2_000_000 },
    async see({ say, model, until }, value) {
      const capsules = () =>
        model.requests('/responses').filter((request) => request.text.includes('Write the capsule now'))
          .length
      const before = capsules()
      for (const words of ['First', 'Second']) {
        model.reply({ text: 'Yes.', usage: { inputTokens: 900, outputTokens: 600 } })
        await say(words)
      }
      return value === 500 ? (await until('a capsule', capsules, (count) => count > before)) > before : false
    },
    expected: (value) => value === 500,
  },
  SESSION_IDLE_MINUTES: {
    values: [1_440, 5],
    async see({ say, ok, client, events, passMinutes, until }, value) {
      const reason = async (id: string) => (await ok(client.get(`/api/timeline/spans/${id}`))).reason
      if (value === 1_440) return await reason((await say('I shall be back.')).spanId)
      const spanId = (await events()).findLast(({ type }) => type === 'chat.message.received').spanId
      // Facts that follow the turn count as activity, so wait far less than 1,440 minutes.
      const later = () => {
        passMinutes(1)
        return reason(spanId)
      }
      return await until('the end of the exchange', later, Boolean)
    },
    expected: (value) => (value === 5 ? 'idle' : null),
  },
  TIMELINE_PAGE_EVENTS: {
    values: [3, 2],
    async see({ say, ok, client }) {
      await say('One more')
      const { events, expandedEvents } = await ok(client.get('/api/timeline'))
      return events.length - expandedEvents
    },
  },
  LONG_ANSWER_CHARS: {
    values: [5_000, 200],
    async see({ say, ok, client, model }) {
      const count = async () => (await ok(client.get('/api/notes'))).notes.length
      const before = await count()
      model.reply({ text: LONG })
      const { reply } = await say('Tell me')
      return [reply.text === LONG, (await count()) - before]
    },
    expected: (value) => (value === 200 ? [false, 1] : [true, 0]),
  },
} as const satisfies Trials
