import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { vectorsFile } from '../../../src/memory/recall/vector-functions.ts'
import { type EmbeddingModel, ModelError } from '../../../src/model/port.ts'
import { testDirectory } from '../../support/directory.ts'
import { type Mind, openMind } from '../mind.ts'

/** An embedding model that maps words to subjects, and gives any other text a vector of its own. */
function scriptedEmbeddings(
  subjects: Readonly<Record<string, readonly string[]>>,
  {
    model = 'meaning-1',
    before = () => Promise.resolve(),
  }: { model?: string; before?: () => Promise<void> } = {},
) {
  const names = Object.keys(subjects)
  const asked: string[][] = []
  const embedding: EmbeddingModel = {
    id: { provider: 'test', model },
    async embed(texts) {
      asked.push([...texts])
      await before()
      return { vectors: texts.map(vectorOf), usage: { inputTokens: 1, outputTokens: 0, cachedTokens: 0 } }
    },
  }
  function vectorOf(text: string): Float32Array {
    const vector = new Float32Array(32)
    const subject = names.findIndex((name) => subjects[name]?.some((word) => text.includes(word)))
    if (subject >= 0) vector[subject] = 1
    else for (const [at] of text.split(' ').entries()) vector[8 + ((text.length + at * 5) % 24)] = 1
    return vector
  }
  return { embedding, asked, vectorOf }
}

const DRINKS = { drinks: ['oolong', 'beverage'] }
const TALK = [
  'My brother drives a lorry',
  'The meeting was boring',
  'We painted the fence',
  'My sister plays chess',
  'The train was late again',
  'I bought a new lamp',
  'The roof leaks a little',
  'Our dog sleeps all day',
]

/** Says the texts, then much else, and waits until all of it is embedded. */
async function sayEarly(mind: Mind, ...texts: readonly string[]): Promise<void> {
  for (const text of [...texts, ...TALK]) await mind.say(text)
  await mind.settle()
  await embedded(mind)
}

const stateOf = async (mind: Mind) => (await mind.memory.api.insights()).runtime.embedding

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 600; round += 1) {
    if (await isSo()) return
    await delay(50)
  }
  throw new Error('timed out')
}

async function embedded(mind: Mind): Promise<void> {
  for (let round = 0; round < 600; round += 1) {
    await mind.storage.catchUpLagging()
    const { count } = mind.storage.views.prepare('SELECT count(*) AS count FROM recall_entries').get() as {
      count: number
    }
    const { embedded: done, state } = await stateOf(mind)
    if (done === count && state === 'up_to_date') return
    await delay(50)
  }
  throw new Error(`not everything was embedded: ${JSON.stringify(await stateOf(mind))}`)
}

const CUE = 'Any beverage that suits?'

test('recalls by meaning where no word matches, and reports the progress of embedding', async () => {
  const without = await openMind()
  for (const text of ['I adore oolong', ...TALK]) await without.say(text)
  await without.settle()
  expect((await without.say(CUE)).recalled.text ?? '').not.toContain('oolong')
  expect(await stateOf(without)).toMatchObject({ model: null, state: 'off', embedded: 0 })

  const mind = await openMind({ embedding: scriptedEmbeddings(DRINKS).embedding })
  await sayEarly(mind, 'I adore oolong')
  expect((await mind.say(CUE)).recalled.text).toContain('I adore oolong')
  const state = await stateOf(mind)
  expect(state).toMatchObject({ model: 'meaning-1', failures: 0, lastFailure: null })
  expect(state.embedded).toBeGreaterThan(TALK.length)
})

test('bounds the wait of a turn for a hanging service, and reports the failure', async () => {
  let isHanging = false
  const { embedding } = scriptedEmbeddings(DRINKS, {
    before: () => (isHanging ? new Promise<void>(() => undefined) : Promise.resolve()),
  })
  const mind = await openMind({
    embedding,
    cueTimeoutMs: 1500,
    config: { retrieveTimeoutMs: 600 },
  })
  await sayEarly(mind, 'I adore oolong')
  await mind.say('What of the oolong?')
  isHanging = true
  // The service was quick before, so the first turn waits for the rest of its time.
  await mind.say(CUE)
  const before = performance.now()
  const { recalled } = await mind.say('What of the oolong?')
  expect(recalled.text).toContain('oolong')
  // It may wait again while the first request has not failed yet, but never past its time.
  expect(performance.now() - before).toBeLessThan(1400)
  await until(async () => (await stateOf(mind)).failures > 0)
  expect(await stateOf(mind)).toMatchObject({ lastFailure: { kind: 'timeout' } })
  const started = performance.now()
  expect((await mind.say('What of the oolong?')).recalled.text).toContain('oolong')
  expect(performance.now() - started).toBeLessThan(1500)
})

test('looks up by meaning, and does not wait for a service that failed', async () => {
  let trouble: Error | 'hangs' | null = null
  const { embedding } = scriptedEmbeddings(DRINKS, {
    async before() {
      if (trouble === 'hangs') await new Promise(() => undefined)
      if (trouble) throw trouble
    },
  })
  const mind = await openMind({ embedding, cueTimeoutMs: 600_000 })
  await sayEarly(mind, 'I adore oolong')
  const lookUp = async () => {
    const result = await mind.use('recall', { query: CUE }, null)
    return JSON.stringify(result.data)
  }
  expect(await lookUp()).toContain('I adore oolong')
  trouble = new ModelError('unavailable', 'The service is down.')
  await mind.say('It rains')
  await until(async () => (await stateOf(mind)).failures > 0)
  trouble = 'hangs'
  expect(await lookUp()).not.toContain('oolong')
})

test('serves a late result in the next turn if that is on the same subject', async () => {
  let meaning = Promise.resolve()
  const { embedding } = scriptedEmbeddings(DRINKS, { before: () => meaning })
  const mind = await openMind({ embedding })
  await sayEarly(mind, 'I adore oolong')
  mind.memory.config.put({ retrieveTimeoutMs: 700 })
  const held = Promise.withResolvers<void>()
  meaning = held.promise
  expect((await mind.say(CUE)).recalled.text ?? '').not.toContain('oolong')
  held.resolve()
  mind.memory.config.put({ retrieveTimeoutMs: 5000 })
  await until(async () => (await mind.memory.api.insights()).runtime.recall.waiting > 0)
  expect((await mind.say('Which beverage, then, suits me?')).recalled.text).toContain('I adore oolong')
})

test('removes every byte of an erased vector', async () => {
  const { embedding, vectorOf } = scriptedEmbeddings({ code: ['quokka4711'] })
  const mind = await openMind({ embedding })
  await sayEarly(mind, 'My locker code is quokka4711')
  const bytes = Buffer.from(vectorOf('quokka4711').buffer)
  const file = vectorsFile(mind.directory)
  expect(readFileSync(file).includes(bytes)).toBe(true)
  const [said] = mind.facts('chat.message.received')
  await mind.erase(said?.seq ?? 0)
  expect(readFileSync(file).includes(bytes)).toBe(false)
})

test('resumes after a restart, starts over for another model, and sends nothing without one', async () => {
  const directory = testDirectory()
  const first = scriptedEmbeddings(DRINKS)
  const mind = await openMind({ directory, embedding: first.embedding })
  await sayEarly(mind, 'I adore oolong')
  const texts = new Set(first.asked.flat())
  await mind.close()

  const again = scriptedEmbeddings(DRINKS)
  const second = await openMind({ directory, embedding: again.embedding })
  await embedded(second)
  expect(again.asked.flat()).toEqual([])
  const other = scriptedEmbeddings(DRINKS, { model: 'meaning-2' })
  second.setEmbedding(other.embedding)
  await second.say('One more thing')
  await second.settle()
  await until(
    async () =>
      (await stateOf(second)).model === 'meaning-2' && texts.isSubsetOf(new Set(other.asked.flat())),
  )
  await embedded(second)
  expect(again.asked.flat().filter((text) => text !== 'One more thing')).toEqual([])
  second.setEmbedding(null)
  const sent = other.asked.length
  await second.say(CUE)
  await second.settle()
  const looks = second.looks()
  await delay(200)
  expect(other.asked.length).toBe(sent)
  // It waits for a model instead of looking for one all the time.
  expect(second.looks() - looks).toBeLessThan(10)
  expect(await stateOf(second)).toMatchObject({ model: null, state: 'off' })
  second.setEmbedding(other.embedding)
  second.memory.wake()
  await until(async () => other.asked.flat().includes(CUE))
})

test('retries a failed embedding later, without effect on turns', { tags: ['long'] }, async () => {
  let fails = true
  const { embedding } = scriptedEmbeddings(DRINKS, {
    before: () => (fails ? Promise.reject(new ModelError('unavailable', 'not now')) : Promise.resolve()),
  })
  const mind = await openMind({ embedding })
  await mind.say('I adore oolong')
  await mind.settle()
  await until(async () => (await stateOf(mind)).failures > 0)
  expect(await stateOf(mind)).toMatchObject({
    state: 'waiting',
    lastFailure: { kind: 'unavailable' },
    retryAt: expect.any(String),
  })
  expect((await mind.say('What of the oolong?')).recalled.text).toContain('oolong')
  fails = false
  mind.advance(60_000)
  await sayEarly(mind)
  expect(await stateOf(mind)).toMatchObject({ state: 'up_to_date', retryAt: null })
})
