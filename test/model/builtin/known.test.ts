import { expect, test } from 'vitest'
import { delegate, owner, runTurn } from './tool-host.ts'

test('lists what the owner said in a period', async () => {
  const hits = [
    { at: '2026-06-02T09:00:00.000Z', who: 'owner', text: 'The boiler is loud' },
    { at: '2026-06-02T08:00:01.000Z', who: 'delegate', text: 'Good morning' },
    { at: '2026-06-02T08:00:00.000Z', who: 'owner', text: 'Hello' },
  ]
  const search_timeline = () => ({ ok: true, hits, forgotten: 1 })
  const today = await runTurn([owner('what did we talk about today?')], { search_timeline })
  expect(today.text).toBe(
    'You said, the latest first:\n\n- today at 11:00: “The boiler is loud”\n- today at 10:00: “Hello”\n\n' +
      'This leaves out what you asked me to forget.',
  )
  const nothing = { search_timeline: () => ({ ok: true, hits: [] }) }
  expect((await runTurn([owner('what did I say last week?')], nothing)).text).toBe(
    'I found nothing about that.',
  )
})

test('offers a related memory and marks it as not the answer', async () => {
  const recalled = (...texts: string[]) => ({
    recall: () => ({
      ok: true,
      memories: texts.map((text, index) => ({ id: `m${index}`, text, since: '2026-05-01' })),
    }),
    search_timeline: () => ({ ok: true, hits: [] }),
  })
  const asked = [owner("When is my sister's birthday?")]
  const beside = await runTurn(asked, recalled('My sister lives in Rome'))
  expect(beside.text).toBe('I don’t know exactly. You told me on Friday, 1 May: your sister lives in Rome.')
  const known = await runTurn(asked, recalled('My sister lives in Rome', 'My sister was born on 5 May'))
  expect(known.text).toBe('You told me on Friday, 1 May: your sister was born on 5 May.')
})

test('searches memory by a synonym when the first word finds nothing', async () => {
  const turn = await runTurn([owner('Where do I live?')], {
    recall: ({ query }) => ({
      ok: true,
      memories: query === 'residence' ? [{ id: 'm', text: 'I moved to Hamburg' }] : [],
    }),
    search_timeline: () => ({ ok: true, hits: [] }),
  })
  expect(turn.text).toBe('You told me: you moved to Hamburg.')
})

test('answers from a message of the owner that recall found', async () => {
  const said = [
    { at: '2026-06-01T09:00:00.000Z', who: 'delegate', text: 'Noted: the plumber mended the boiler' },
    { at: '2026-06-01T08:59:00.000Z', who: 'owner', text: 'The plumber who mended the boiler is Fabrice' },
    { at: '2026-06-02T08:00:00.000Z', who: 'owner', text: 'Who mended the boiler?' },
  ]
  const turn = await runTurn([owner('Who mended our old boiler?')], {
    recall: ({ query }) => ({ ok: true, memories: [], said: query === null ? [] : said }),
    search_timeline: () => ({ ok: true, hits: [] }),
  })
  expect(turn.text).toBe('You told me yesterday: the plumber who mended the boiler is Fabrice.')
})

test('does not forget other people’s names on “forget my name”', async () => {
  const run = (...texts: string[]) =>
    runTurn([owner('forget my name')], {
      recall: () => ({ ok: true, memories: texts.map((text, index) => ({ id: `m${index}`, text })) }),
      forget: () => ({ ok: true, forgotten: 1 }),
    })
  const others = await run("My sister's name is Ada", 'My dog is called Rex')
  expect(others.calls.map(({ name }) => name)).toEqual(['recall'])
  expect(others.text).toBe('I don’t remember anything like that.')
  const own = await run("My sister's name is Ada", 'My name is Max')
  expect(own.calls.at(-1)).toEqual({ name: 'forget', args: { query: 'm1' } })
  expect((await run()).calls.at(-1)).toEqual({ name: 'forget', args: { query: 'my name' } })
})

test('finds what the owner said behind newer questions and replies', async () => {
  const asked = { at: '2026-06-02T09:00:00.000Z', who: 'owner', text: 'what did I say about Leo' }
  const told = { at: '2026-06-01T09:00:00.000Z', who: 'owner', text: 'My son Leo plays the violin' }
  const search_timeline = () => ({ ok: true, hits: [asked], more: true })
  const said = [owner('what did I say about Leo?')]
  const found = await runTurn(said, { search_timeline, recall: () => ({ ok: true, said: [asked, told] }) })
  expect(found.text).toBe(
    'You said, the latest first:\n\n- yesterday at 11:00: “My son Leo plays the violin”',
  )
  const nothing = await runTurn(said, { search_timeline, recall: () => ({ ok: true, said: [] }) })
  expect(nothing.text).toMatch(/^I found nothing about that in the latest messages\./)
})

test('lists only what was said in the morning, if asked for the morning', async () => {
  const hits = [
    { at: '2026-06-02T11:00:00.000Z', who: 'owner', text: 'what is for lunch' },
    { at: '2026-06-02T06:00:00.000Z', who: 'owner', text: 'Hello' },
  ]
  const { text } = await runTurn([owner('what did we talk about this morning?')], {
    search_timeline: () => ({ ok: true, hits }),
  })
  expect(text).toBe('You said, the latest first:\n\n- today at 08:00: “Hello”')
})

test('forgets what was just kept on “forget that”, and says so if there is nothing', async () => {
  const forget = () => ({
    ok: true,
    goes: [{ kind: 'memory', count: 1, items: ['My PIN is 4821'] }],
    stays: [],
  })
  const run = (said: string, reply: string, asked = 'forget that') =>
    runTurn([owner(said), delegate(reply), owner(asked)], { forget })
  for (const asked of ['forget that', 'forget it', 'forget what I just said', 'forget my last message']) {
    const { text, calls } = await run('My PIN is 4821.', 'Noted.', asked)
    expect(calls).toEqual([{ name: 'forget', args: { query: 'My PIN is 4821' } }])
    expect(text).toBe('Forgotten: your PIN is 4821.')
  }
  const kept = await run('remember my PIN is 4821', 'I’ll remember: your PIN is 4821.')
  expect(kept.calls).toEqual([{ name: 'forget', args: { query: 'your PIN is 4821' } }])
  const nothing = await run('hello', 'Hello!')
  expect(nothing.calls).toEqual([])
  expect(nothing.text).toMatch(/^Nothing is forgotten\./)
  expect((await run('remind me to call Anna', 'When?', 'forget it')).text).toBe('All right.')
})

test('finds a note that lacks some words of a question, in a few searches', async () => {
  const hosted = {
    recall: () => ({ ok: true, memories: [] }),
    search_timeline: () => ({ ok: true, hits: [] }),
    list_timers: () => ({ ok: true, timers: [] }),
    read_note: () => ({ ok: true, note: { id: 'n', title: 'Pancakes', content: '2 eggs, 200 g flour' } }),
    list_notes: ({ query }: { readonly query?: unknown }) => ({
      ok: true,
      notes: query === 'flour' ? [{ id: 'n', title: 'Pancakes', excerpt: '2 eggs, 200 g flour' }] : [],
    }),
  }
  const asked = async (question: string) => {
    const { text, calls } = await runTurn([owner(question)], hosted)
    return { text, searches: calls.filter(({ name }) => name === 'list_notes').length }
  }
  expect(await asked('how much flour do I need for the pancakes?')).toEqual({
    text: 'In your note [Pancakes](/notes/n):\n\n2 eggs, 200 g flour',
    searches: 4,
  })
  const long = 'how much flour, sugar, butter, milk, salt, yeast and honey do I need for the cake?'
  expect(await asked(long)).toEqual({ text: 'I found nothing about that.', searches: 1 })
})
