import { expect, test } from 'vitest'
import { filesHolding, testDirectory } from '../../support/directory.ts'
import { type Mind, NEW_YEAR, openMind } from '../mind.ts'
import { scriptedModel } from '../scripted-model.ts'

const code = (quote: string) => ({
  text: 'The locker code is quokka4711',
  quote,
  slot: 'locker code',
  value: 'quokka4711',
  singleValued: true,
})

test('removes a forgotten memory everywhere, but keeps its turn on the timeline', async () => {
  const mind = await openMind({
    utility: scriptedModel(({ turns }) =>
      turns
        .filter(({ quotable, text }) => quotable && text.includes('quokka4711'))
        .map(({ text }) => code(text)),
    ),
  })
  const { seq } = await mind.say('My locker code is quokka4711', {
    reply: 'Your locker code is quokka4711, noted.',
  })
  await mind.settle()
  const [memory] = mind.known()
  const asked = await mind.say('What is my locker code?', { reply: 'It is quokka4711.' })
  expect(asked.recalled.text).toContain('quokka4711')
  await mind.settle()

  expect(await mind.forget(memory?.memoryId ?? '')).toEqual({ erased: expect.any(Number) })
  expect(mind.texts()).toEqual([])
  expect((await mind.memory.api.list({ q: 'quokka4711', limit: 5, beforeSeq: null })).memories).toEqual([])
  const after = await mind.say('What is my locker code?')
  expect(after.recalled.text ?? '').not.toContain('quokka4711')
  const [turn] = mind.storage.ledger.readSeqs([seq])
  expect(turn).toMatchObject({ body: { text: 'My locker code is quokka4711' }, erased: false })
  const [stored] = mind.facts('memory.stored')
  expect(stored).toMatchObject({ body: null, erased: true })
  const [reply] = mind.storage.ledger.readSeqs([asked.replySeq ?? 0])
  expect(reply).toMatchObject({ body: null, erased: true })
})

test('leaves no byte of a forgotten paraphrase in any file', async () => {
  const mind = await openMind({
    utility: scriptedModel(({ turns }) =>
      turns.flatMap(({ quotable, text }) =>
        quotable && text.includes('zanzibarian')
          ? [{ text: 'Adores zanzibarianmarmalade', quote: text, value: 'zanzibarian', slot: 'food' }]
          : [],
      ),
    ),
  })
  await mind.say('I adore zanzibarian marmalade')
  await mind.settle()
  await mind.say('What do I adore?', { reply: 'You adore zanzibarianmarmalade.' })
  await mind.settle()
  expect(filesHolding(mind.directory, 'zanzibarianmarmalade')).not.toEqual([])
  await mind.forget(mind.known()[0]?.memoryId ?? '')
  await mind.close()
  expect(filesHolding(mind.directory, 'zanzibarianmarmalade')).toEqual([])
})

test('never relearns a forgotten memory, even from an insistent model or after a restart', async () => {
  const directory = testDirectory()
  const insists = scriptedModel(({ turns }) => [
    code('My locker code is quokka4711'),
    code('quokka4711'),
    ...turns.map(({ text }) => code(text)),
  ])
  const mind = await openMind({ directory, utility: insists })
  await mind.say('My locker code is quokka4711', { reply: 'Your locker code is quokka4711.' })
  await mind.settle()
  const request = await mind.say('Forget that my locker code is quokka4711', { open: true })
  expect(await mind.use('forget', { query: 'locker code' }, request.seq)).toMatchObject({
    ok: true,
    data: { forgotten: 1 },
  })
  await mind.finish(request)
  for (const text of ['Thanks', 'What is my locker code?', 'Tell me a story'])
    await mind.say(text, { reply: 'Gladly.' })
  await mind.settle()
  await mind.close()
  const again = await openMind({ directory, utility: insists, startMs: mind.nowMs() })
  await again.say('And now?')
  await again.settle()
  expect(again.texts()).toEqual([])
})

test('relearns what the owner states again after forgetting', async () => {
  const mind = await openMind()
  await mind.say('I live in Oslo')
  await mind.settle()
  await mind.forget(mind.known()[0]?.memoryId ?? '')
  await mind.say('I live in Oslo')
  await mind.settle()
  expect(mind.texts()).toEqual(['I live in Oslo'])
})

test('does not learn what is forgotten during extraction', async () => {
  const thinking = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const mind = await openMind({
    utility: scriptedModel(async ({ turns }) => {
      const said = turns.findLast(({ quotable }) => quotable)?.text ?? ''
      if (!said.includes('once more')) return said.includes('quokka4711') ? [code(said)] : []
      asked.resolve()
      await thinking.promise
      return [code(said)]
    }),
  })
  await mind.say('My locker code is quokka4711')
  await mind.settle()
  const [memory] = mind.known()
  await mind.say('So once more: my locker code is quokka4711')
  await asked.promise
  await mind.forget(memory?.memoryId ?? '')
  thinking.resolve()
  await mind.settle()
  expect(mind.texts()).toEqual([])
})

test('does not learn what is forgotten before extraction', async () => {
  let isDown = true
  const mind = await openMind({
    utility: scriptedModel(({ turns }) => {
      if (isDown) return { raw: 'out of order' }
      return turns
        .filter(({ quotable, text }) => quotable && text.includes('quokka4711'))
        .map(({ text }) => code(text))
    }),
  })
  await mind.say('My locker code is quokka4711')
  await mind.settle()
  const request = await mind.say('Forget my locker code', { open: true })
  expect(await mind.use('forget', { query: 'locker code' }, request.seq)).toMatchObject({
    ok: true,
    data: { forgotten: 0, stays: [{ kind: 'message' }] },
  })
  await mind.finish(request)
  isDown = false
  mind.advance(3_600_000)
  await mind.say('Good night')
  await mind.settle()
  expect(mind.utterances.unreadCount()).toBe(0)
  expect(mind.texts()).toEqual([])
})

test('forgets the superseded versions of a memory with it', async () => {
  const mind = await openMind()
  for (const city of ['Oslo', 'Ulm', 'Graz']) {
    await mind.say(`I live in ${city}`)
    await mind.settle()
  }
  await mind.forget(mind.known()[0]?.memoryId ?? '')
  expect(mind.facts('memory.stored').every((event) => 'erased' in event && event.erased)).toBe(true)
  const recalled = await mind.say('Where do I live?')
  expect(recalled.recalled.text ?? '').not.toMatch(/Oslo|Ulm|Graz/)
})

test('bars messages from which nothing was learned, and the replies that repeat them', async () => {
  const mind = await openMind()
  const said = await mind.say('The spare key lies under the blue flowerpot.')
  const answered = await mind.say('Where is the spare key lying?', {
    reply: 'Under the blue flowerpot.',
    conversationId: 'another',
  })
  const { seq } = await mind.say('Forget the spare key', { open: true })
  expect(await mind.use('forget', { query: 'the spare key' }, seq)).toMatchObject({
    ok: true,
    data: { forgotten: 0, stays: [{ kind: 'message' }] },
  })
  const [request] = mind.facts('erasure.requested')
  expect(request).toMatchObject({ facts: { barredSeqs: expect.arrayContaining([said.seq, seq]) } })
  const [reply] = mind.storage.ledger.readSeqs([answered.replySeq ?? 0])
  if (reply?.type !== 'chat.reply.sent') throw new Error('reply not found')
  expect(mind.queries.repeatsBarred(reply)).toBe(true)
})

test('bars messages that say the same as a forgotten memory, but none that only shares its words', async () => {
  const mind = await openMind()
  const said = [
    'I like tea.',
    'Anna said she would like a tea towel for her birthday.',
    'I don’t like the tea house on Mill Lane.',
    'Good morning! We like tea. And you?',
    'Did you know that I like tea with milk?',
    'My therapist is Dr Kahn.',
    'I see my therapist Dr Kahn on Mondays.',
    'My therapist thinks that Dr Kahn moved his practice to York.',
  ]
  const seqs: number[] = []
  for (const text of said) seqs.push((await mind.say(text)).seq)
  await mind.settle()
  for (const forgotten of ['I like tea', 'My therapist is Dr Kahn'])
    await mind.forget(mind.known().find(({ text }) => text === forgotten)?.memoryId ?? '')
  const barred = [true, false, false, true, true, true, true, false]
  expect(seqs.map(mind.queries.isBarred)).toEqual(barred)
})

test('bars messages with the number of a forgotten code, but none for sharing a year', async () => {
  const mind = await openMind()
  const code = await mind.say('My PIN is 4821.')
  const year = await mind.say('My wedding is on 22 May 2027.')
  const same = await mind.say('The boiler is checked in 2027, and 4821 opens the shed.')
  await mind.settle()
  const forget = (words: RegExp) =>
    mind.forget(mind.known().find(({ text }) => words.test(text ?? ''))?.memoryId ?? '')
  await forget(/wedding/)
  expect([year.seq, same.seq].map(mind.queries.isBarred)).toEqual([true, false])
  await forget(/PIN/)
  expect([code.seq, same.seq].map(mind.queries.isBarred)).toEqual([true, true])
})

test('never recalls the answer to a request to forget, sent by chat or text', async () => {
  const mind = await openMind()
  await mind.say('The spare key lies under the blue flowerpot.')
  const request = await mind.say('Forget the spare key', { open: true })
  await mind.use('forget', { query: 'the spare key' }, request.seq)
  const place = { conversationId: 'conversation', turnId: request.turnId, actor: 'delegate' } as const
  const text = 'Forgotten: where the spare key lies, under the blue flowerpot.'
  const derivedFrom = [request.seq]
  const facts = { deliveryId: 'd', channel: 'sms', taskId: null, maxAttempts: 1 } as const
  const [, asked = 0] = await mind.appended([
    { type: 'chat.reply.sent', ...place, channel: 'chat', derivedFrom, facts: {}, body: { text } },
    {
      type: 'delivery.requested',
      ...place,
      channel: 'sms',
      derivedFrom,
      facts,
      body: { target: '+1', text },
    },
  ])
  await mind.appended([
    {
      type: 'sms.sent',
      ...place,
      channel: 'sms',
      derivedFrom: [asked],
      facts: { messageSid: 'SM1', party: 'owner', segments: 1 },
      body: { to: '+1', text },
    },
  ])
  await mind.finish(request)
  await mind.settle()
  const { recalled } = await mind.say('Where does the spare key lie?', { conversationId: 'another' })
  expect(recalled.text ?? '').not.toContain('flowerpot')
})

test('forgets nothing if many messages share the words', async () => {
  const mind = await openMind()
  for (let day = 1; day <= 21; day += 1) await mind.say(`What are the dinner plans on day ${day}?`)
  const { seq } = await mind.say('Forget the dinner plans', { open: true })
  expect(await mind.use('forget', { query: 'dinner plans' }, seq)).toMatchObject({
    ok: false,
    reason: 'too_common',
  })
  expect(mind.facts('memory.sources.barred')).toEqual([])
})

test('forgets nothing if several memories match, and lists them by the owner’s dates', async () => {
  const mind = await openMind({ startMs: NEW_YEAR })
  await mind.say('My sister Ida lives in Turku')
  await mind.say('My sister Eva lives in Cork')
  await mind.settle()
  const { seq } = await mind.say('Forget my sister', { open: true })
  const outcome = await mind.use('forget', { query: 'my sister' }, seq)
  expect(outcome).toMatchObject({ ok: false, reason: 'ambiguous' })
  expect(outcome).toHaveProperty('message', expect.stringMatching(/Ida.*Eva|Eva.*Ida/))
  expect(outcome).toHaveProperty('message', expect.stringMatching(/\(2030-01-01\).*\(2030-01-01\)/))
  expect(mind.texts()).toHaveLength(2)
  expect(await mind.use('forget', { query: 'my sister Eva' }, seq)).toMatchObject({ ok: true })
  expect(mind.texts()).toEqual(['My sister Ida lives in Turku'])
  expect(await mind.use('forget', { query: 'the moon' }, seq)).toMatchObject({
    ok: false,
    reason: 'not_found',
  })
})

/** Asks to forget. Returns the texts on offer, or null if something was forgotten at once. */
async function offered(mind: Mind, query: string): Promise<readonly string[] | null> {
  const request = await mind.say(`Forget ${query}`, { open: true })
  const outcome = await mind.use('forget', { query }, request.seq)
  await mind.finish(request)
  if (outcome.ok) return null
  return mind.storage.ledger
    .readSeqs(outcome.choice?.derivedFrom ?? [])
    .map((event) => ('body' in event && event.body && 'text' in event.body ? event.body.text : ''))
}

test('offers memories and messages together, each fact once', async () => {
  const mind = await openMind()
  await mind.say('I live in Cardiff')
  await mind.say('My sister Eva lives in Cardiff')
  await mind.settle()
  await mind.say('The interview for the Cardiff job went well')
  await mind.say('Is there a train to Cardiff?')
  expect((await offered(mind, 'my Cardiff job'))?.toSorted()).toEqual([
    'I live in Cardiff',
    'My sister Eva lives in Cardiff',
    'The interview for the Cardiff job went well',
  ])
  expect(mind.texts()).toHaveLength(2)
})

test('forgets a message at once if it alone has all the words and no memory has any', async () => {
  const mind = await openMind()
  await mind.say('The interview for the Cardiff job went well')
  await mind.say('The boiler is loud')
  await mind.say('The boiler was serviced in May')
  await mind.settle()
  expect((await offered(mind, 'the boiler'))?.toSorted()).toEqual([
    'The boiler is loud',
    'The boiler was serviced in May',
  ])
  expect(await offered(mind, 'the loud boiler')).toBeNull()
  expect(await offered(mind, 'the Cardiff job interview')).toBeNull()
})

test('offers what comes closest if nothing has the words, and what was said on a day', async () => {
  const mind = await openMind()
  await mind.say('The plumber comes at noon', { conversationId: 'before' })
  mind.advance(24 * 3_600_000)
  await mind.say('The milk is sour')
  await mind.settle()
  expect(await offered(mind, 'the thing about that plumber whom Bob recommended')).toEqual([
    'The plumber comes at noon',
  ])
  expect(await offered(mind, 'what I said yesterday')).toEqual(['The plumber comes at noon'])
})

test('forgets with a message what was learned from it', async () => {
  const mind = await openMind()
  const { seq } = await mind.say('I live in Oslo')
  await mind.settle()
  const chosen = { kind: 'words', memoryIds: [], messageSeqs: [seq] } as const
  expect(await mind.erasures.eraseNow(chosen)).toEqual({ erased: expect.any(Number) })
  expect(mind.texts()).toEqual([])
  expect(mind.queries.isBarred(seq)).toBe(true)
})

test('lets only the owner forget or remember', async () => {
  const mind = await openMind()
  await mind.say('I live in Oslo')
  await mind.settle()
  expect(await mind.use('forget', { query: 'Oslo' }, null)).toMatchObject({ ok: false, reason: 'not_owner' })
  expect(await mind.use('remember', { text: 'I live in Rome' }, null)).toMatchObject({
    ok: false,
    reason: 'not_owner',
  })
  expect(mind.texts()).toEqual(['I live in Oslo'])
})

test('restores a superseded memory', async () => {
  const mind = await openMind()
  for (const city of ['Oslo', 'Ulm']) {
    await mind.say(`I live in ${city}`)
    await mind.settle()
  }
  const [now] = mind.known()
  const [before] = mind.queries.predecessors(now?.memoryId ?? '')
  expect(before).toMatchObject({
    text: 'I live in Oslo',
    status: 'superseded',
    validUntil: expect.any(String),
  })
  const undo = () => mind.memory.memories.restore(before?.memoryId ?? '')
  expect(await undo()).toBe('restored')
  expect(mind.known()).toMatchObject([{ text: 'I live in Oslo', status: 'active', validUntil: null }])
  expect(await undo()).toBe('current')
})

test('keeps exactly one of several rival memories through repeated restores', async () => {
  const mind = await openMind()
  const ids = new Map<string, string | undefined>()
  const move = async (city: string) => {
    await mind.say(`I live in ${city}`, { reply: 'Noted.' })
    await mind.settle()
    ids.set(city, mind.known()[0]?.memoryId)
  }
  for (const city of ['Berlin', 'Paris', 'Rome']) await move(city)
  for (const city of ['Berlin', 'Rome', 'Paris', 'Berlin', 'Paris', 'Oslo', 'Rome']) {
    if (!ids.has(city)) await move(city)
    else expect(await mind.memory.memories.restore(ids.get(city) ?? '')).toBe('restored')
    expect(mind.texts()).toEqual([`I live in ${city}`])
  }
})

test('does not recall a memory that is forgotten between a message and its turn', async () => {
  const mind = await openMind()
  await mind.say('I like oolong tea')
  await mind.settle()
  expect(mind.known()).toHaveLength(1)
  const { recalled } = await mind.say('Which tea should I order?', {
    meanwhile: (seq) => mind.use('forget', { query: 'oolong tea' }, seq),
  })
  expect(mind.known()).toEqual([])
  expect(recalled.text ?? '').not.toContain('oolong')
})
