import { expect, test } from 'vitest'
import { ModelError } from '../../../src/model/port.ts'
import { testDirectory } from '../../support/directory.ts'
import { NEW_YEAR, openMind } from '../mind.ts'
import { type Shown, scriptedModel } from '../scripted-model.ts'

/** Finds "… live in X" in quotable turns, as a model would. */
const residences = ({ turns }: Shown) =>
  turns.flatMap(({ quotable, text }) => {
    const value = /live in ([\p{L}]+)/u.exec(text)?.[1]
    if (!quotable || value === undefined) return []
    return [{ text: `Lives in ${value}`, quote: text, slot: 'residence', value, singleValued: true }]
  })

test('learns plain statements by rules after the turn', async () => {
  const mind = await openMind()
  await mind.say('My name is Ada and I live in Oslo')
  await mind.say('What is the weather like?')
  await mind.settle()
  expect(mind.texts()).toEqual(['My name is Ada', 'I live in Oslo'])
  expect(mind.utterances.unreadCount()).toBe(0)
})

test('learns a statement repeated hundreds of times in one message once, and reads on', async () => {
  const mind = await openMind()
  await mind.say('My sister Ada likes tea. '.repeat(4000))
  await mind.say('I live in Oslo')
  await mind.settle()
  expect(mind.texts()).toEqual(['My sister Ada likes tea', 'I live in Oslo'])
})

test('learns what a model finds, with its quote and source', async () => {
  const mind = await openMind({ utility: scriptedModel(residences) })
  const { seq } = await mind.say('I live in Oslo')
  await mind.settle()
  expect(mind.known()).toMatchObject([{ text: 'Lives in Oslo', quote: 'I live in Oslo', status: 'active' }])
  const { memories } = await mind.memory.api.list({ q: null, limit: 10, beforeSeq: null })
  expect(memories).toMatchObject([
    { text: 'Lives in Oslo', sources: [{ seq, conversationId: 'conversation' }], reinforcements: 0 },
  ])
})

test('reads each utterance once and in order, across restarts', async () => {
  const directory = testDirectory()
  const model = scriptedModel(residences)
  const first = await openMind({ directory, utility: model, started: false })
  const cities = [
    'Oslo',
    'Ulm',
    'Rome',
    'Lima',
    'Kyiv',
    'Bonn',
    'Nara',
    'Turku',
    'Cork',
    'Graz',
    'Bari',
    'Gent',
  ]
  for (const city of cities) await first.say(`I live in ${city}`)
  await first.close()

  const second = await openMind({ directory, utility: model, startMs: first.nowMs() })
  await second.settle()
  await second.close()
  const third = await openMind({ directory, utility: model, startMs: second.nowMs() })
  await third.settle()

  const read = model.asked.flatMap(({ turns }) =>
    turns.filter(({ quotable }) => quotable).map(({ text }) => text),
  )
  expect(read).toEqual(cities.map((city) => `I live in ${city}`))
  expect(third.texts()).toEqual(['Lives in Gent'])
  expect(third.queries.counts().find(({ status }) => status === 'superseded')?.count).toBe(cities.length - 1)
})

test('reads a turn only once it is answered', async () => {
  const mind = await openMind({ utility: scriptedModel(residences) })
  await mind.appended([
    {
      type: 'chat.message.received',
      actor: 'owner',
      conversationId: 'c',
      turnId: 't',
      channel: 'chat',
      facts: {},
      body: { text: 'I live in Oslo' },
    },
  ])
  await mind.settle()
  expect(mind.texts()).toEqual([])
  await mind.appended([
    {
      type: 'turn.failed',
      actor: 'service',
      conversationId: 'c',
      turnId: 't',
      facts: { kind: 'unavailable' },
      body: { text: 'Sorry.' },
    },
  ])
  await mind.settle()
  expect(mind.texts()).toEqual(['Lives in Oslo'])
})

test('reads an unanswered utterance of a call at the checkpoint', async () => {
  const mind = await openMind({ utility: scriptedModel(residences) })
  const [heard = 0] = await mind.appended([
    {
      type: 'call.utterance.heard',
      actor: 'owner',
      conversationId: 'c',
      channel: 'voice',
      facts: { callSid: 'call', itemId: 'i', party: 'owner', transcribed: true },
      body: { text: 'I live in Oslo' },
    },
  ])
  await mind.settle()
  expect(mind.texts()).toEqual([])
  await mind.appended([
    {
      type: 'memory.checkpoint.created',
      actor: 'service',
      conversationId: 'c',
      facts: { fromSeq: 1, toSeq: heard, turns: 1, reason: 'idle' },
    },
  ])
  await mind.settle()
  expect(mind.texts()).toEqual(['Lives in Oslo'])
})

test('neither learns from guests nor shows their words to a model', async () => {
  const model = scriptedModel(residences)
  const mind = await openMind({ utility: model })
  await mind.say('I live in Paris', { party: 'guest', at: 'sms' })
  await mind.say('I live in Cairo', { party: 'guest', at: 'voice' })
  await mind.say('Good morning, what is new?')
  await mind.settle()
  expect(mind.texts()).toEqual([])
  expect(JSON.stringify(model.asked)).not.toMatch(/Paris|Cairo/)
})

test('retries a failing model with growing pauses, then falls back to rules', async () => {
  const mind = await openMind({ utility: scriptedModel(() => new ModelError('unavailable', 'down')) })
  await mind.say('I live in Oslo')
  for (let round = 0; round < 12; round += 1) {
    await mind.settle()
    mind.advance(2 * 60 * 60_000)
  }
  const failures = mind
    .facts('memory.extraction.failed')
    .flatMap((event) => (event.type === 'memory.extraction.failed' ? [event.facts] : []))
  expect(failures.map(({ attempt, final }) => [attempt, final])).toEqual([
    [1, false],
    [2, false],
    [3, false],
    [4, false],
    [5, false],
    [6, true],
  ])
  expect(mind.texts()).toEqual(['I live in Oslo'])
  await mind.settle()
  expect(mind.facts('memory.extraction.completed')).toHaveLength(1)
})

test.each([30 * 24 * 60 * 60_000, 1e21])(
  'retries a model within an hour even if it asks for a pause of %d ms',
  async (ms) => {
    const busy = new ModelError('rate_limited', 'busy', { retryAfterMs: ms })
    let asked = 0
    const mind = await openMind({
      utility: scriptedModel((shown) => {
        asked += 1
        return asked === 1 ? busy : residences(shown)
      }),
    })
    await mind.say('I live in Oslo')
    await mind.settle()
    mind.advance(60 * 60_000)
    await mind.settle()
    expect(mind.facts('memory.extraction.failed')).toHaveLength(1)
    expect(mind.texts()).toEqual(['Lives in Oslo'])
  },
)

test('keeps the pause after a failure across a restart', async () => {
  const directory = testDirectory()
  const down = scriptedModel(() => new ModelError('unavailable', 'down'))
  const first = await openMind({ directory, utility: down })
  await first.say('I live in Oslo')
  await first.settle()
  await first.close()
  const second = await openMind({ directory, utility: down, startMs: first.nowMs() })
  await second.settle()
  expect(down.asked).toHaveLength(1)
  second.advance(60_000)
  await second.settle()
  expect(down.asked).toHaveLength(2)
})

test('treats a malformed answer as a failure and learns nothing from it', async () => {
  const mind = await openMind({
    utility: scriptedModel(() => ({ raw: { candidates: [{ text: 'Lives in Oslo' }] } })),
  })
  await mind.say('Good to see you here in Oslo')
  for (let round = 0; round < 6; round += 1) {
    await mind.settle()
    mind.advance(2 * 60 * 60_000)
  }
  expect(mind.facts('memory.extraction.failed')).toHaveLength(3)
  expect(mind.texts()).toEqual([])
})

test('wakes the delegate once for each overridden, conflicting or refined memory', async () => {
  const model = scriptedModel(({ turns, memories }) => {
    const said = turns.findLast(({ quotable }) => quotable)?.text ?? ''
    const id = memories.find(({ text }) =>
      text.includes(said.includes('dog') ? 'dog' : said.includes('tea') ? 'tea' : 'Lives'),
    )?.id
    const relate = (relation: 'same' | 'refine' | 'conflict') =>
      id === undefined ? [] : [{ memoryId: id, relation }]
    if (said.includes('Rex'))
      return [
        {
          text: 'Has a dog named Rex',
          quote: said,
          slot: 'pet',
          value: 'dog named Rex',
          relations: relate('refine'),
        },
      ]
    if (said.includes('dog')) return [{ text: 'Has a dog', quote: said, slot: 'pet', value: 'dog' }]
    if (said.includes('tea'))
      return [{ text: said, quote: said, slot: 'drink', value: 'tea', relations: relate('conflict') }]
    return residences({ turns, memories, timezone: '' }).map((each) => ({
      ...each,
      relations: relate('conflict'),
    }))
  })
  const mind = await openMind({ startMs: NEW_YEAR, utility: model })
  const raised = () =>
    mind.facts('signal.raised').flatMap((event) => (event.type === 'signal.raised' ? [event] : []))
  const signals = () => raised().map(({ facts }) => facts)
  const sayEach = async (...all: readonly string[]) => {
    for (const said of all) {
      await mind.say(said)
      await mind.settle()
    }
  }
  await sayEach('I live in Oslo', 'I have a dog', 'I drink tea every morning')
  expect(signals()).toEqual([])
  await sayEach('I live in Ulm', 'My dog is called Rex, I have a dog named Rex', 'I drink tea only at night')
  await mind.settle()
  expect(
    signals()
      .map(({ kind, mode }) => `${kind} ${mode}`)
      .sort(),
  ).toEqual(['memory_conflicted wake', 'memory_consolidated wake', 'memory_overridden wake'])
  // Dates are in the owner's timezone.
  for (const { body } of raised()) expect(body?.text.match(/\(2030-01-01\)/g)).toHaveLength(2)
  expect(
    mind
      .known()
      .map(({ text, status }) => `${text}: ${status}`)
      .sort(),
  ).toEqual([
    'Has a dog named Rex: active',
    'I drink tea every morning: contested',
    'I drink tea only at night: contested',
    'Lives in Ulm: active',
  ])
})

test('expires a plan after its day', async () => {
  const mind = await openMind()
  await mind.say('I have a dentist appointment tomorrow at 3pm')
  await mind.settle()
  expect(mind.known()).toMatchObject([
    { kind: 'plan', status: 'active', eventTime: '2030-01-02T14:00:00.000Z' },
  ])
  mind.advance(5 * 86_400_000)
  await mind.say('Good morning')
  await mind.settle()
  expect(mind.texts()).toEqual([])
  expect(mind.facts('memory.retired')).toMatchObject([{ facts: { reason: 'expired' } }])
})

test('keeps a plan for next week until the week is over', async () => {
  const mind = await openMind()
  await mind.say("I'm flying to Oslo next week")
  await mind.settle()
  mind.advance(10 * 86_400_000)
  await mind.say('Good morning')
  await mind.settle()
  expect(mind.facts('memory.retired')).toEqual([])
  mind.advance(5 * 86_400_000)
  await mind.say('Good evening')
  await mind.settle()
  expect(mind.facts('memory.retired')).toMatchObject([{ facts: { reason: 'expired' } }])
})

test('resolves the time of a plan by the daylight saving in force then', async () => {
  const mind = await openMind()
  // Berlin switches to summer time at the end of March.
  await mind.say('I have a dentist appointment on 3 April at 3pm')
  await mind.say('My flight leaves on 4 May at 00:30')
  await mind.settle()
  expect(mind.known().map(({ kind, eventTime }) => `${kind} ${eventTime}`)).toEqual([
    'plan 2030-04-03T13:00:00.000Z',
    'plan 2030-05-03T22:30:00.000Z',
  ])
})

test('resolves a plan in a number of hours across a switch to summer time', async () => {
  const mind = await openMind({ startMs: Date.UTC(2030, 2, 30, 21) })
  await mind.say("I'm flying to Oslo in 25 hours")
  await mind.settle()
  // After midnight in summer time.
  expect(mind.known().map(({ eventTime }) => eventTime)).toEqual(['2030-03-31T22:01:00.000Z'])
})

test('stores an appointment for tomorrow as another when it is repeated the next day', async () => {
  const mind = await openMind()
  const text = 'I have a dentist appointment tomorrow at 3pm'
  await mind.say(text)
  await mind.settle()
  mind.advance(86_400_000)
  await mind.say(text)
  await mind.settle()
  expect(mind.known().map(({ eventTime }) => eventTime)).toEqual([
    '2030-01-02T14:00:00.000Z',
    '2030-01-03T14:00:00.000Z',
  ])
})

test('stores an appointment for tomorrow as another when it is reworded the next day', async () => {
  const mind = await openMind()
  await mind.say('I have a dentist appointment tomorrow at 3pm')
  await mind.settle()
  mind.advance(86_400_000)
  await mind.say("I've got a dentist appointment tomorrow at 3pm")
  await mind.settle()
  expect(mind.known().map(({ eventTime }) => eventTime)).toEqual([
    '2030-01-02T14:00:00.000Z',
    '2030-01-03T14:00:00.000Z',
  ])
})

test.each(['next week', 'in two weeks', 'next year'])(
  'reinforces a plan for %s when it is repeated the next day',
  async (when) => {
    const mind = await openMind()
    await mind.say(`I'm flying to Oslo ${when}`)
    await mind.settle()
    mind.advance(86_400_000)
    await mind.say(`I'm flying to Oslo ${when}`)
    await mind.settle()
    expect(mind.known()).toHaveLength(1)
    expect(mind.facts('memory.reinforced')).toHaveLength(1)
  },
)

test('keeps a memory valid through the last day that the model gives', async () => {
  const text = 'I go to Oslo on 5 January'
  const day = { eventTime: '2030-01-05', validUntil: '2030-01-05' }
  const plan = { kind: 'plan', slot: 'trip', value: 'Oslo', text, quote: text, ...day } as const
  const mind = await openMind({ utility: scriptedModel(() => [plan]) })
  await mind.say(text)
  await mind.settle()
  // Midnight in Berlin.
  expect(mind.known()).toMatchObject([
    { eventTime: '2030-01-04T23:00:00.000Z', validUntil: '2030-01-05T23:00:00.000Z' },
  ])
})

test('closes at once, however long the indexes take', async () => {
  const asked = Promise.withResolvers<void>()
  const catchUpLagging = () => {
    asked.resolve()
    return new Promise<void>(() => undefined)
  }
  const mind = await openMind({ catchUpLagging, started: false })
  mind.memory.start()
  await asked.promise
  await mind.close()
  expect(mind.written).toEqual([])
})

test('bars what the owner asks not to keep at once, even while learning waits for its model', async () => {
  const busy = new ModelError('rate_limited', 'busy', { retryAfterMs: 60 * 60_000 })
  const mind = await openMind({ utility: scriptedModel(() => busy) })
  await mind.say('I live in Oslo')
  await mind.settle()
  const { seq } = await mind.say('The boiler is loud. Don’t keep this.')
  await mind.settle()
  expect(mind.facts('memory.extraction.failed')).toHaveLength(1)
  expect(mind.queries.isSecret(seq)).toBe(true)
})
