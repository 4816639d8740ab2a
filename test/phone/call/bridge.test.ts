import { afterEach, expect, test } from 'vitest'
import { HEARD_SLACK_MS } from '../../../src/phone/call/medium.ts'
import { loadPhrases } from '../../../src/phone/call/phrases.ts'
import { callPrompts } from '../../../src/phone/call/prompts.ts'
import type { Script } from '../../doubles/realtime/session.ts'
import { hasOpenAiSpec } from '../../doubles/spec/openai-spec.ts'
import { holdUp } from '../../support/hold-up.ts'
import { within } from '../../support/within.ts'
import { type Call, connectCall, script, speech, TRAIN } from './call-harness.ts'

let call: Call | undefined

afterEach(async () => {
  await call?.close()
  call = undefined
})

async function connect(options: Parameters<typeof connectCall>[0] = {}): Promise<Call> {
  call = await connectCall(options)
  return call
}

/** A caller must hear something within this time of losing the model. */
const PHRASE_WITHIN_MS = 3_000
const HELLO = speech('caller-thanks')
/** Greets briefly, then answers every question with the train. */
const greeting: Script['reply'] = ({ index }) =>
  index === 0
    ? { audio: HELLO, transcript: 'Hello there, what is it?' }
    : { audio: speech('reply-train'), transcript: TRAIN }

async function afterGreeting({ caller, factsOf }: Call): Promise<void> {
  await caller.until('the greeting was heard', () => factsOf('call.reply.spoken').length === 1)
}

const typesReceived = ({ model }: Call) => model.received.map((event) => event.type)
const clears = ({ caller }: Call) => caller.heard.filter((event) => event.type === 'clear').length
const truncations = ({ model }: Call) =>
  model.received.filter((event) => event.type === 'conversation.item.truncate')

test('answers a question with every byte intact and records the facts in order', async () => {
  const it = await connect({ script: script({ reply: greeting }) })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  await it.caller.until('the answer was heard', () => it.factsOf('call.reply.spoken').length === 2)
  expect(it.caller.heardBytes()).toEqual(Buffer.concat([HELLO, speech('reply-train')]))
  expect(it.model.appended().includes(speech('caller-question'))).toBe(true)
  expect(it.facts.map((fact) => fact.type)).toEqual([
    'call.connected',
    'call.reply.spoken',
    'call.utterance.heard',
    'call.reply.spoken',
  ])
  expect(it.factsOf('call.reply.spoken')[1]).toMatchObject({
    facts: { interrupted: false },
    body: { text: TRAIN, generatedText: TRAIN },
  })
})

test('configures a session before any response, with the history as text', async () => {
  const it = await connect({ script: script({ reply: greeting }) })
  await afterGreeting(it)
  expect(typesReceived(it)).toEqual([
    'session.update',
    'conversation.item.create',
    'conversation.item.create',
    'conversation.item.create',
    'response.create',
  ])
  expect(it.model.received.slice(1, 4).map((event) => (event.item as { role: string }).role)).toEqual([
    'user',
    'user',
    'assistant',
  ])
})

test('greets by the instructions of the session, which those of a response would replace', async () => {
  const given: string[] = []
  const reply: Script['reply'] = (turn) => {
    given.push(turn.instructions)
    return greeting(turn)
  }
  await afterGreeting(await connect({ script: script({ reply }) }))
  expect(given).toEqual([`You are the delegate.\n\n${callPrompts.greeting}`])
})

test('stops a reply that the caller interrupts, and tells the model what was heard', async () => {
  const it = await connect({ script: script({ reply: greeting, deltaEveryMs: 8 }) })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  const before = it.caller.heardBytes().length
  await it.caller.until('some of the answer was heard', () => it.caller.heardBytes().length > before + 4_000)
  await it.caller.say(speech('caller-interrupts'))
  await it.caller.until('the interruption is recorded', () => it.factsOf('call.reply.spoken').length >= 2)
  expect(clears(it)).toBe(1)
  expect(truncations(it)).toHaveLength(1)
  const [, answer] = it.factsOf('call.reply.spoken')
  expect(answer?.facts.interrupted).toBe(true)
  expect(answer?.facts.heardMs).toBe(truncations(it)[0]?.audio_end_ms)
  expect(answer?.facts.heardMs).toBeLessThan(answer?.facts.sentMs ?? 0)
  expect(TRAIN.startsWith(answer?.body.text ?? '-')).toBe(true)
  // The slack covers a mark that is still on its way.
  const playedMs = (it.caller.heardBytes().length - before) / 8
  expect(answer?.facts.heardMs).toBeLessThanOrEqual(playedMs + HEARD_SLACK_MS)
})

test('stops a reply that is fully generated but still plays', async () => {
  const it = await connect({ script: script({ reply: greeting, deltaEveryMs: 1 }) })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  await it.caller.until('the end of generation', () => it.responses.length === 2)
  expect(it.caller.queuedMs()).toBeGreaterThan(0)
  await it.caller.say(speech('caller-interrupts'))
  await it.caller.until('the interruption is recorded', () => it.factsOf('call.reply.spoken').length >= 2)
  expect(clears(it)).toBe(1)
  const dropped = it.caller.heard.find((event) => event.type === 'clear')
  expect(dropped?.droppedBytes).toBeGreaterThan(0)
  expect(truncations(it)).toHaveLength(1)
  expect(it.factsOf('call.reply.spoken')[1]?.facts).toMatchObject({ sentMs: 3_715, interrupted: true })
})

test('stops each of two interrupted replies once and sends no more of their audio', async () => {
  const it = await connect({ script: script({ reply: greeting, deltaEveryMs: 8 }) })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  for (const round of [1, 2]) {
    const before = it.caller.heardBytes().length
    await it.caller.until('an answer is heard', () => it.caller.heardBytes().length > before + 4_000)
    await it.caller.say(speech('caller-interrupts'))
    await it.caller.until('the interruption', () => it.factsOf('call.interrupted').length === round)
  }
  await it.caller.until('the last answer was heard', () => it.factsOf('call.reply.spoken').length === 4)
  expect(clears(it)).toBe(2)
  expect(truncations(it)).toHaveLength(2)
  expect(it.factsOf('call.interrupted')).toHaveLength(2)
  const replies = it.factsOf('call.reply.spoken')
  expect(replies.filter((fact) => fact.facts.interrupted)).toHaveLength(2)
  for (const { body } of replies) expect(body.generatedText.startsWith(body.text)).toBe(true)
})

test('posts the result of a tool call and speaks it without adding silence', async () => {
  const calls: string[] = []
  const it = await connect({
    script: script({
      reply: ({ index }) => {
        if (index === 1)
          return { toolCalls: [{ callId: 'call_1', name: 'lookup', arguments: '{"q":"train"}' }] }
        return index === 0
          ? { audio: HELLO, transcript: 'Hello.' }
          : { audio: speech('reply-train'), transcript: TRAIN }
      },
    }),
    mind: {
      runTool: async ({ name, arguments: given }) => {
        calls.push(`${name} ${given}`)
        return 'nine fifteen, platform four'
      },
    },
  })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  await it.caller.until('the answer was heard', () => it.factsOf('call.reply.spoken').length === 2)
  expect(calls).toEqual(['lookup {"q":"train"}'])
  expect(it.model.received.slice(-2)).toMatchObject([
    {
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'call_1', output: 'nine fifteen, platform four' },
    },
    { type: 'response.create' },
  ])
})

test('reports a failing tool to the model and continues the call', async () => {
  const it = await connect({
    script: script({
      reply: ({ index }) =>
        index === 1
          ? { toolCalls: [{ callId: 'call_1', name: 'lookup', arguments: '{}' }] }
          : { audio: HELLO, transcript: 'Hello.' },
    }),
    mind: { runTool: () => Promise.reject(new Error('no database')) },
  })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  await it.caller.until('the answer was heard', () => it.factsOf('call.reply.spoken').length === 2)
  const items = it.model.received.map((event) => event.item as { type: string; output: string } | undefined)
  expect(items.find((item) => item?.type === 'function_call_output')?.output).toContain('failed')
  expect(JSON.stringify(it.model.received)).not.toContain('no database')
})

test('plays a phrase when the model connection drops, resumes in a second session and keeps what was heard', async () => {
  const it = await connect({ script: script({ reply: greeting, deltaEveryMs: 8 }) })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  const before = it.caller.heardBytes().length
  await it.caller.until('some of the answer was heard', () => it.caller.heardBytes().length > before + 4_000)
  const heardBefore = it.caller.heardBytes().length
  const phrase = Buffer.from((await loadPhrases()).reconnecting.media, 'base64')
  it.model.drop()
  const begins = () => it.caller.heardBytes().subarray(heardBefore).includes(phrase.subarray(0, 4_000))
  await within(PHRASE_WITHIN_MS, it.caller.until('the phrase begins', begins))
  await it.caller.until('a second session speaks', () => it.factsOf('call.reply.spoken').length === 4)
  expect(it.model.sessions()).toBe(2)
  expect(it.endings).toEqual([])
  const afterwards = it.caller.heardBytes().subarray(heardBefore)
  expect(afterwards.includes(phrase)).toBe(true)
  expect(it.factsOf('call.reply.spoken').map((fact) => fact.facts.interrupted)).toEqual([
    false,
    true,
    false,
    false,
  ])
})

test('closes the stream when the model is lost for good, so that the provider takes over', async () => {
  const it = await connect({ script: script({ reply: greeting }) })
  await afterGreeting(it)
  it.model.refuse(true)
  it.model.drop()
  expect((await it.caller.closed).code).toBe(1000)
  expect(it.endings).toEqual(['model_lost'])
  expect(it.hungUp).toEqual([])
  expect(it.factsOf('call.ended')).toMatchObject([{ facts: { reason: 'model_lost' } }])
})

test('replaces a session that stalls in the middle of an answer', async () => {
  const it = await connect({
    script: script({ reply: greeting, deltaEveryMs: 8 }),
    // Longer than any pause of the event loop that the bridge or the test would tolerate.
    limits: { stallMs: 1_500 },
  })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  const before = it.caller.heardBytes().length
  await it.caller.until('the answer begins', () => it.caller.heardBytes().length > before)
  it.model.hang()
  await it.caller.until('a second session speaks', () => it.factsOf('call.reply.spoken').length === 3)
  expect(it.model.sessions()).toBe(2)
})

test('keeps a session that streams the arguments of a tool for longer than a stall', async () => {
  const it = await connect({
    script: script({
      reply: ({ index }) =>
        index === 1
          ? { toolCalls: [{ callId: 'call_1', name: 'lookup', arguments: '{}' }], argumentsMs: 1_000 }
          : { audio: HELLO, transcript: 'Hello.' },
    }),
    // A pause of the event loop counts as half a second at most.
    limits: { stallMs: 600 },
  })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  await it.caller.until('the answer was heard', () => it.factsOf('call.reply.spoken').length === 2)
  expect(it.model.sessions()).toBe(1)
})

test('continues the call after an error from the service', async () => {
  const it = await connect({ script: script({ reply: greeting }) })
  await afterGreeting(it)
  it.model.complain('rate_limit_exceeded')
  await it.caller.say(speech('caller-question'))
  await it.caller.until('the answer was heard', () => it.factsOf('call.reply.spoken').length === 2)
  expect(it.log.some((line) => line.includes('rate_limit_exceeded'))).toBe(true)
})

test.each([
  ['hangUp', 'caller_hung_up'],
  ['drop', 'line_lost'],
] as const)('ends the call once when the caller is gone (%s), whatever follows', async (how, reason) => {
  const it = await connect({ script: script({ reply: greeting }) })
  await it.caller.until('the greeting is heard', () => it.caller.heardBytes().length > 1_600)
  it.caller[how]()
  await it.caller.closed
  await expect.poll(() => it.endings).toEqual([reason])
  it.bridge.lineEnded('caller_hung_up')
  it.bridge.hangUp('owner_hung_up')
  expect(it.endings).toEqual([reason])
  expect(it.factsOf('call.ended')).toHaveLength(1)
  expect(it.factsOf('call.reply.spoken')).toMatchObject([{ facts: { interrupted: true } }])
})

test('closes the model and the socket when the provider reports the end first', async () => {
  const it = await connect({ script: script({ reply: greeting }) })
  await afterGreeting(it)
  it.bridge.lineEnded('caller_hung_up')
  expect(it.endings).toEqual(['caller_hung_up'])
  await it.caller.closed
})

test('ends the call at the provider first when the owner hangs up in the browser', async () => {
  const it = await connect({ script: script({ reply: greeting }) })
  await afterGreeting(it)
  it.bridge.hangUp('owner_hung_up')
  await it.caller.closed
  expect(it.hungUp).toEqual(['CA1'])
})

test('keeps one sentence in one piece while the process is blocked', async () => {
  const it = await connect({ script: script({ reply: greeting }) })
  await afterGreeting(it)
  const said = it.caller.say(speech('caller-question'))
  await it.caller.wait(1_200)
  await holdUp(1_500)
  await said
  await it.caller.until('the answer was heard', () => it.factsOf('call.reply.spoken').length === 2)
  expect(it.factsOf('call.utterance.heard')).toHaveLength(1)
  expect(it.model.appended().includes(speech('caller-question'))).toBe(true)
})

test('hears a caller who speaks before the session is ready', async () => {
  const ready = Promise.withResolvers<void>()
  const it = await connect({
    script: script(),
    mind: {
      plan: async () => {
        await ready.promise
        return { instructions: '', history: [], tools: [], voice: 'marin', transcriptionModel: 'x' }
      },
    },
  })
  await it.caller.say(speech('caller-question'))
  ready.resolve()
  await it.caller.until('the words are there', () => it.factsOf('call.utterance.heard').length === 1)
  expect(it.model.appended().includes(speech('caller-question'))).toBe(true)
})

test('passes on memories that surface in time, and waits for no slow recall', async () => {
  const cues: (string | null)[] = []
  const it = await connect({
    script: script({ reply: greeting }),
    mind: {
      recall: ({ text }) => {
        cues.push(text)
        return text === null
          ? new Promise(() => undefined)
          : Promise.resolve('<memory>Prefers the window.</memory>')
      },
    },
  })
  await afterGreeting(it)
  await it.caller.say(speech('caller-question'))
  await it.caller.until('the answer was heard', () => it.factsOf('call.reply.spoken').length === 2)
  expect(cues).toEqual([null, 'When does my train to Lisbon leave tomorrow?'])
  expect(JSON.stringify(it.model.received)).toContain('Prefers the window.')
})

test('never plays a session that speaks another audio format', async () => {
  const it = await connect({ script: script({ outputFormat: 'audio/pcm' }) })
  await it.caller.closed
  expect(it.caller.heardBytes()).toHaveLength(0)
  expect(it.endings).toEqual(['wrong_format'])
})

test.runIf(hasOpenAiSpec())('exchanges only events that the service documents', async () => {
  const it = await connect({
    script: script({
      deltaEveryMs: 8,
      reply: ({ index }) =>
        index === 1
          ? {
              audio: HELLO,
              transcript: 'Let me see.',
              toolCalls: [{ callId: 'c', name: 'lookup', arguments: '{}' }],
            }
          : { audio: speech('reply-train'), transcript: TRAIN },
      words: (index) => (index === 0 ? null : 'words'),
    }),
  })
  await it.caller.until('the greeting is heard', () => it.caller.heardBytes().length > 4_000)
  await it.caller.say(speech('caller-interrupts'))
  await it.caller.until('three replies', () => it.factsOf('call.reply.spoken').length === 3)
  expect(typesReceived(it)).toContain('conversation.item.truncate')
  expect(it.model.problems).toEqual([])
})
