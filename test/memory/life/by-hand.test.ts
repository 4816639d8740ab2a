import { describe, expect, test } from 'vitest'
import { createIsForeign } from '../../../src/agent/turn/foreign.ts'
import { type Mind, openMind } from '../mind.ts'
import { scriptedModel } from '../scripted-model.ts'

const typed = (text: string) => ({ text, kind: null, isPasted: false })
const idOf = (mind: Mind, text: string) => mind.known().find((row) => row.text === text)?.memoryId ?? ''

/** What a new conversation recalls. */
async function recalled(mind: Mind, question: string): Promise<string> {
  const conversationId = `after ${mind.storage.ledger.head().seq}`
  return (await mind.say(question, { conversationId, reply: null })).recalled.text ?? ''
}

async function edited(mind: Mind, from: string, to: string) {
  const outcome = await mind.memory.byHand.change(idOf(mind, from), { text: to, isPasted: false })
  if (!('memory' in outcome)) throw new Error(outcome.refused)
  return outcome.memory
}

describe('adding', () => {
  test('stores a statement of the owner, which is its own source', async () => {
    const mind = await openMind()
    const { memory, isNew } = await mind.memory.byHand.add({
      ...typed('My locker is 4711'),
      kind: 'procedure',
    })
    expect(isNew).toBe(true)
    expect(mind.facts('memory.stored')).toMatchObject([
      {
        actor: 'owner',
        channel: 'system',
        derivedFrom: [],
        facts: { kind: 'procedure', sourceSeqs: [], by: 'owner' },
        body: { text: 'My locker is 4711' },
      },
    ])
    expect(mind.queries.sources(memory.memoryId)).toEqual([memory.storedSeq])
    expect(await recalled(mind, 'What is my locker?')).toContain('My locker is 4711')
  })

  test('strengthens what is known, replaces nothing, and is replaced by what is said later', async () => {
    const mind = await openMind()
    await mind.say('I live in Porto.')
    await mind.settle()
    expect((await mind.memory.byHand.add(typed('I live in Porto'))).isNew).toBe(false)
    expect(mind.known()).toMatchObject([{ text: 'I live in Porto', reinforcements: 1 }])
    await mind.memory.byHand.add(typed('I live in Graz'))
    await mind.settle()
    expect(mind.texts()).toEqual(['I live in Porto', 'I live in Graz'])
    expect(mind.facts('signal.raised')).toEqual([])
    await mind.say('I live in Vienna now.')
    await mind.settle()
    expect(mind.texts()).toEqual(['I live in Vienna now'])
  })

  test('takes words that look like somebody else’s, because the owner entered them', async () => {
    const mind = await openMind()
    const text = 'From: the manual: “press both buttons for five seconds”'
    await mind.memory.byHand.add(typed(text))
    expect(mind.texts()).toEqual([text])
  })
})

describe('editing', () => {
  test('offers the new words and not the old ones, whatever said those', async () => {
    const mind = await openMind()
    await mind.say('My dentist is Dr Weber.', { reply: 'Your dentist is Dr Weber, noted.' })
    await mind.settle()
    expect(await recalled(mind, 'Who is my dentist?')).toContain('Weber')
    await edited(mind, 'My dentist is Dr Weber', 'My dentist is Dr Okafor')
    await mind.settle()
    const text = await recalled(mind, 'Who is my dentist?')
    expect(text).toContain('My dentist is Dr Okafor')
    expect(text).not.toContain('Weber')
  })

  test('is undone by restoring the earlier memory, whose message is recalled again', async () => {
    const mind = await openMind()
    await mind.say('My dentist is Dr Weber.')
    await mind.settle()
    const earlier = idOf(mind, 'My dentist is Dr Weber')
    await edited(mind, 'My dentist is Dr Weber', 'My dentist is Dr Okafor')
    await mind.memory.memories.restore(earlier)
    expect(mind.texts()).toEqual(['My dentist is Dr Weber'])
    expect(await recalled(mind, 'Who is my dentist?')).not.toContain('Okafor')
  })

  test.each(['My dentist is Dr Okafor', 'My dentist is Dr. Weber!'])(
    'goes with the message that taught the earlier words, if that is forgotten (%s)',
    async (text) => {
      const mind = await openMind()
      const { seq } = await mind.say('My dentist is Dr Weber.')
      await mind.settle()
      await edited(mind, 'My dentist is Dr Weber', text)
      await mind.erasures.eraseNow({ kind: 'words', memoryIds: [], messageSeqs: [seq] })
      expect(mind.texts()).toEqual([])
      for (const stored of mind.facts('memory.stored')) expect(stored).toMatchObject({ body: null })
    },
  )

  test('keeps slot, keywords and times, so that what is said later replaces it', async () => {
    const utility = scriptedModel(({ turns }) =>
      turns.some(({ text, quotable }) => quotable && text.includes('Weber'))
        ? [
            {
              quote: 'My dentist is Dr Weber',
              text: 'The dentist of the owner is Dr Weber',
              slot: 'dentist',
              value: 'Dr Weber',
              singleValued: true,
              keywords: ['teeth'],
            },
          ]
        : turns.some(({ text, quotable }) => quotable && text.includes('Lind'))
          ? [
              {
                quote: 'My dentist is Dr Lind',
                text: 'The dentist of the owner is Dr Lind',
                slot: 'dentist',
                value: 'Dr Lind',
                singleValued: true,
              },
            ]
          : [],
    )
    const mind = await openMind({ utility })
    await mind.say('My dentist is Dr Weber.')
    await mind.settle()
    await edited(mind, 'The dentist of the owner is Dr Weber', 'The dentist of the owner is Dr Okafor')
    await mind.settle()
    expect(await recalled(mind, 'Who looks after my teeth?')).toContain('Okafor')
    await mind.say('My dentist is Dr Lind.')
    await mind.settle()
    expect(mind.texts()).toEqual(['The dentist of the owner is Dr Lind'])
  })

  test('refuses what no longer applies or never was, and does nothing if nothing changes', async () => {
    const mind = await openMind()
    const { byHand } = mind.memory
    const { memory } = await byHand.add(typed('I own a canoe'))
    expect(await byHand.change(memory.memoryId, { text: 'I own a canoe', isPasted: false })).toMatchObject({
      memory: { memoryId: memory.memoryId },
    })
    await edited(mind, 'I own a canoe', 'I own a kayak')
    const again = { text: 'I own a raft', isPasted: false }
    expect(await byHand.change(memory.memoryId, again)).toEqual({ refused: 'outdated' })
    expect(await byHand.change('nobody', again)).toEqual({ refused: 'unknown' })
    expect(mind.facts('memory.stored')).toHaveLength(2)
  })
})

describe('learning afterwards', () => {
  test('does not learn the old words from the same message, nor from an earlier one', async () => {
    const mind = await openMind({ started: false })
    const early = await mind.say('My boat is called Petrel.')
    await mind.use('remember', { text: 'My boat is called Petrel' }, early.seq)
    await mind.say('As I said, my boat is called Petrel.')
    await edited(mind, 'My boat is called Petrel', 'My boat is called Puffin')
    mind.memory.start()
    await mind.settle()
    expect(mind.texts()).toEqual(['My boat is called Puffin'])
    // Said again later, it is news.
    await mind.say('My boat is called Petrel.')
    await mind.settle()
    expect(mind.texts().join()).toContain('Petrel')
  })

  test('does not let an earlier message override or refine what the owner wrote since', async () => {
    const utility = scriptedModel(({ turns, memories }) => {
      const [memory] = memories
      const quote = 'I live in Vienna'
      return memory && turns.some(({ text, quotable }) => quotable && text.includes(quote))
        ? (['conflict', 'refine'] as const).map((relation) => ({
            quote,
            text: `The owner lives in Vienna${relation === 'refine' ? ', Austria' : ''}`,
            slot: 'residence',
            value: 'Vienna',
            singleValued: true,
            relations: [{ memoryId: memory.id, relation }],
          }))
        : []
    })
    const mind = await openMind({ utility, started: false })
    await mind.say('I live in Vienna.')
    await mind.memory.byHand.add(typed('I live in Graz'))
    mind.memory.start()
    await mind.settle()
    expect(mind.texts()).toEqual(['I live in Graz'])
    expect(mind.facts('memory.discarded')).not.toEqual([])
  })
})

describe('merging', () => {
  async function merged(mind: Mind) {
    for (const fact of ['I ride my bike to work', 'My bike is a red Brompton']) {
      const { seq } = await mind.say(`Remember that ${fact}.`)
      await mind.use('remember', { text: fact }, seq)
    }
    await mind.settle()
    const rows = mind.known()
    const outcome = await mind.memory.byHand.merge(
      rows.map(({ memoryId }) => memoryId),
      typed('I ride a red Brompton to work'),
    )
    if (!('memory' in outcome)) throw new Error(outcome.refused)
    return { rows, memory: outcome.memory }
  }

  test('leaves one memory with the words of the owner, derived from all of them', async () => {
    const mind = await openMind()
    const { rows, memory } = await merged(mind)
    expect(rows).toHaveLength(2)
    await mind.settle()
    expect(mind.texts()).toEqual(['I ride a red Brompton to work'])
    expect(mind.facts('memory.merged')).toHaveLength(rows.length)
    const [stored] = mind.storage.ledger.readSeqs([memory.storedSeq])
    expect(stored?.derivedFrom).toEqual(rows.map(({ storedSeq }) => storedSeq))
    expect(mind.facts('signal.raised')).toEqual([])
  })

  test('goes with a source of what was merged', async () => {
    const mind = await openMind()
    const { rows, memory } = await merged(mind)
    const [source = 0] = mind.queries.sources(rows[0]?.memoryId ?? '')
    await mind.erase(source)
    await mind.settle()
    expect(mind.queries.byId(memory.memoryId)).toBeUndefined()
    expect(mind.texts()).toEqual([])
  })

  test('is forgotten with what was merged, whose messages teach nothing again', async () => {
    const mind = await openMind()
    const { memory, rows } = await merged(mind)
    const sources = rows.flatMap(({ memoryId }) => mind.queries.sources(memoryId))
    await mind.forget(memory.memoryId)
    await mind.settle()
    for (const stored of mind.facts('memory.stored')) expect(stored).toMatchObject({ body: null })
    for (const seq of sources) expect(mind.queries.isBarred(seq)).toBe(true)
  })

  test('refuses an unknown memory and changes nothing', async () => {
    const mind = await openMind()
    const { memory } = await mind.memory.byHand.add(typed('I own a canoe'))
    const ids = [memory.memoryId, 'nobody']
    expect(await mind.memory.byHand.merge(ids, typed('I own boats'))).toEqual({ refused: 'unknown' })
    expect(mind.texts()).toEqual(['I own a canoe'])
  })
})

describe('pinning', () => {
  const pin = (mind: Mind, text: string, pinned = true) =>
    mind.memory.byHand.change(idOf(mind, text), { pinned, isPasted: false })

  test('gives it to every turn of the owner before what is recalled, once, and at full strength', async () => {
    const mind = await openMind()
    await mind.say('I own a canoe.')
    await mind.settle()
    await mind.memory.byHand.add(typed('Answer me in Welsh'))
    await pin(mind, 'Answer me in Welsh')
    const lines = (await recalled(mind, 'Do I own a canoe?')).split('\n')
    expect(lines[0]).toMatch(/memory \(active\): Answer me in Welsh$/)
    expect(lines.slice(1).join()).toMatch(/canoe/)
    expect((await recalled(mind, 'Answer me: is Welsh hard?')).match(/Answer me in Welsh/g)).toHaveLength(1)
    mind.advance(10 * 365 * 86_400_000)
    const { memories } = await mind.memory.api.list({ q: null, limit: 10, beforeSeq: null, pinned: true })
    expect(memories).toMatchObject([{ pinned: true, by: 'owner', strength: 1 }])
    await pin(mind, 'Answer me in Welsh', false)
    expect(await recalled(mind, 'How old is the universe?')).toBe('')
  })

  test('gives it even if recall is late, and not to an activation', async () => {
    const mind = await openMind({
      engine: () => new Promise(() => undefined),
      config: { retrieveTimeoutMs: 20 },
    })
    await mind.memory.byHand.add(typed('Answer me in Welsh'))
    await pin(mind, 'Answer me in Welsh')
    expect(await recalled(mind, 'Good morning')).toContain('Answer me in Welsh')
    const cue = { text: 'A timer is due', turnId: 't', conversationId: 'c', spanId: null, beforeSeq: 99 }
    expect(await mind.memory.recall({ ...cue, channel: 'inner', inContextSeqs: [] })).toMatchObject({
      text: null,
    })
  })

  test('records that the turn was given it', async () => {
    const mind = await openMind()
    const { memory } = await mind.memory.byHand.add(typed('Answer me in Welsh'))
    await pin(mind, 'Answer me in Welsh')
    const { recalled } = await mind.say('Good morning', { reply: null })
    expect(recalled.seqs).toContain(memory.storedSeq)
    expect(mind.facts('memory.recalled')).toMatchObject([{ facts: { ids: [memory.memoryId], late: false } }])
  })

  test('is bounded by the tokens that memories may use', async () => {
    const mind = await openMind({ config: { maxInjectedTokens: 40 } })
    await mind.memory.byHand.add(typed('Answer me in Welsh'))
    await mind.memory.byHand.add(typed(`I like ${'very '.repeat(20)}long walks`))
    await pin(mind, 'Answer me in Welsh')
    const long = `I like ${'very '.repeat(20)}long walks`
    expect(await pin(mind, long)).toEqual({ refused: 'pins_full' })
    const grown = { text: long, isPasted: false }
    expect(await mind.memory.byHand.change(idOf(mind, 'Answer me in Welsh'), grown)).toEqual({
      refused: 'pins_full',
    })
    const { pinnedTokens } = await mind.memory.api.list({ q: null, limit: 1, beforeSeq: null })
    expect(pinnedTokens).toEqual({ used: expect.any(Number), limit: 40 })
    expect(pinnedTokens?.used).toBeLessThanOrEqual(40)
    // A limit that was lowered since holds, too.
    mind.memory.config.put({ maxInjectedTokens: 5 })
    expect(await recalled(mind, 'Good morning')).toBe('')
  })

  test('stays with an edit and a merge, and ends with forgetting', async () => {
    const mind = await openMind()
    await mind.memory.byHand.add(typed('Answer me in Welsh'))
    await pin(mind, 'Answer me in Welsh')
    await edited(mind, 'Answer me in Welsh', 'Answer me in Breton')
    expect(await recalled(mind, 'Good morning')).toMatch(/^[\d-]+ memory \(active\): Answer me in Breton$/)
    await mind.memory.byHand.add(typed('I live in Brest'))
    const ids = mind.known().map(({ memoryId }) => memoryId)
    await mind.memory.byHand.merge(ids, typed('I live in Brest; answer me in Breton'))
    expect(await recalled(mind, 'Good evening')).toContain('I live in Brest; answer me in Breton')
    await mind.forget(mind.known()[0]?.memoryId ?? '')
    expect(await recalled(mind, 'Good night')).toBe('')
  })

  test('refuses what is not confirmed', async () => {
    const mind = await openMind()
    await mind.appended([
      {
        type: 'memory.stored',
        actor: 'service',
        channel: 'inner',
        facts: {
          memoryId: 'unsure',
          kind: 'preference',
          sourceSeqs: [],
          supersedes: null,
          linkedTo: null,
          singleValued: false,
          eventTime: null,
          validFrom: '2030-01-01T00:00:00.000Z',
          validUntil: null,
          by: 'extraction',
          provisional: true,
        },
        body: {
          text: 'The owner likes tea',
          subject: 'owner',
          slot: '',
          value: '',
          quote: 'tea',
          canonicalKey: 'like tea',
          slotKey: '',
          statementKey: '',
        },
      },
    ])
    expect(await pin(mind, 'The owner likes tea')).toEqual({ refused: 'unconfirmed' })
    // The owner's own words confirm it.
    await edited(mind, 'The owner likes tea', 'The owner likes green tea')
    expect(mind.known()).toMatchObject([{ status: 'active' }])
  })
})

describe('provenance', () => {
  const isForeign = (mind: Mind, seq: number) => {
    const [event] = mind.storage.ledger.readSeqs([seq])
    return event && createIsForeign(mind.storage.ledger)(event)
  }

  test('takes typed words as the owner’s, and pasted ones as foreign through every edit and merge', async () => {
    const mind = await openMind()
    const { byHand } = mind.memory
    const own = (await byHand.add(typed('I own a canoe'))).memory
    const pasted = (await byHand.add({ ...typed('Obey the letter'), isPasted: true })).memory
    expect([isForeign(mind, own.storedSeq), isForeign(mind, pasted.storedSeq)]).toEqual([false, true])
    const after = await edited(mind, 'Obey the letter', 'Always obey the letter')
    expect(isForeign(mind, after.storedSeq)).toBe(true)
    const both = await byHand.merge([own.memoryId, after.memoryId], typed('I own a canoe and obey'))
    expect('memory' in both && isForeign(mind, both.memory.storedSeq)).toBe(true)
  })

  test('keeps an edit of what a text message taught foreign', async () => {
    const mind = await openMind()
    await mind.say('I live in Porto.', { at: 'sms' })
    await mind.settle()
    const { storedSeq } = await edited(mind, 'I live in Porto', 'I live in Graz')
    expect(isForeign(mind, storedSeq)).toBe(true)
  })
})
