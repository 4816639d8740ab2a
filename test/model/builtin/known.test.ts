import { expect, test } from 'vitest'
import type { InputItem } from '../../../src/model/port.ts'
import { delegate, memories, owner, recalled, runTurn } from './tool-host.ts'

test('of what was recalled, only what the owner stated and what still holds is an answer', async () => {
  const past = recalled(
    '2026-03-20 owner (since corrected): My dentist is Dr Adams.',
    '2026-03-21 owner: Who is my dentist?',
    '2026-03-21 delegate: You told me: “My dentist is Dr Adams.” (20 March 2026)',
    '2026-03-26 memory (active): My dentist is Dr Baker',
    '2026-03-27 owner: Remind me to call the dentist. My dentist is closed on Mondays.',
  )
  const turn = await runTurn([past, owner('Who is my dentist?')])
  expect(turn.text).toBe(
    'You told me:\n\n- “My dentist is closed on Mondays.” (27 March 2026)\n- “My dentist is Dr Baker” (26 March 2026)',
  )
})

test('what is being said is newer than what is recalled, and that is newer than the summary', async () => {
  const summary: InputItem = {
    type: 'inner',
    label: 'the conversation until now, summarised',
    text: '## What the owner said\n- My dentist is Dr Adams.\n- Who is my dentist?\n- Call my dentist tomorrow?',
  }
  const turn = await runTurn([
    summary,
    owner('My dentist is Dr Clark.', '2026-05-30T09:00:00.000Z'),
    recalled('2026-03-26 memory (active): My dentist is Dr Baker'),
    owner('Who is my dentist?'),
  ])
  expect(turn.text.match(/Dr \w+/g)).toEqual(['Dr Clark', 'Dr Baker', 'Dr Adams'])
  expect(turn.text).not.toContain('?')
})

test('what was said is quoted whole, with the abbreviations in it', async () => {
  const turn = await runTurn([
    owner('I changed. My dentist is Dr. Weber, Hauptstr. 5.'),
    delegate('Noted.'),
    owner("Isn't my dentist Dr. Weber?"),
  ])
  expect(turn.text).toBe('You told me: “My dentist is Dr. Weber, Hauptstr. 5.”')
})

test('what the owner said in a period is listed, and that nothing is summed up is said', async () => {
  const hits = [
    { at: '2026-06-02T09:00:00.000Z', who: 'owner', text: 'The boiler is loud' },
    { at: '2026-06-02T08:00:01.000Z', who: 'delegate', text: 'Good morning' },
    { at: '2026-06-02T08:00:00.000Z', who: 'owner', text: 'Hello' },
  ]
  const search_timeline = () => ({ ok: true, hits, forgotten: 1 })
  const today = await runTurn([owner('what did we talk about today?')], { search_timeline })
  expect(today.text).toBe(
    'What you said on 2 June 2026, the latest first:\n\n- 11:00: “The boiler is loud”\n- 10:00: “Hello”\n\n' +
      'What you had me forget is left out.',
  )
  const sum = await runTurn([owner('Summarize our conversation')], { search_timeline })
  expect(sum.text).toBe(`Summing up needs a language model; I can show what was said. ${today.text}`)
  const nothing = { search_timeline: () => ({ ok: true, hits: [] }) }
  expect((await runTurn([owner('what did I say last week?')], nothing)).text).toBe(
    'I find nothing that you said from 25 May 2026 to 31 May 2026.',
  )
})

test('what is said of the same thing, and not what was asked, is given as that', async () => {
  const told = memories('My sister lives in Rome')
  const none = () => ({ ok: true, memories: [], hits: [] })
  const turn = await runTurn([told, owner("When is my sister's birthday?")], {
    recall: none,
    search_timeline: none,
  })
  expect(turn.text).toBe(
    'I find nothing that says so, only what was said of the same thing. You told me: “My sister lives in Rome” (1 May 2026)',
  )
  const known = await runTurn([told, owner("When is my sister's birthday?")], {
    recall: () => ({ ok: true, memories: [{ id: 'm', text: 'My sister was born on 5 May' }] }),
    search_timeline: none,
  })
  expect(known.text).toBe('You told me: “My sister was born on 5 May”')
})

test('where a memory calls it otherwise, it is looked up by what memories call it', async () => {
  const turn = await runTurn([owner('Where do I live?')], {
    recall: ({ query }) => ({
      ok: true,
      memories: query === 'residence' ? [{ id: 'm', text: 'I moved to Hamburg' }] : [],
    }),
    search_timeline: () => ({ ok: true, hits: [] }),
  })
  expect(turn.text).toBe('You told me: “I moved to Hamburg”')
})

test('“forget my name” forgets nobody else’s', async () => {
  const run = (...texts: string[]) =>
    runTurn([owner('forget my name')], {
      recall: () => ({ ok: true, memories: texts.map((text, index) => ({ id: `m${index}`, text })) }),
      forget: () => ({ ok: true, forgotten: 1 }),
    })
  const others = await run("My sister's name is Ada", 'My dog is called Rex')
  expect(others.calls.map(({ name }) => name)).toEqual(['recall'])
  expect(others.text).toBe('Nothing like that is remembered.')
  const own = await run("My sister's name is Ada", 'My name is Max')
  expect(own.calls.at(-1)).toEqual({ name: 'forget', args: { query: 'm1' } })
  expect((await run()).calls.at(-1)).toEqual({ name: 'forget', args: { query: 'name' } })
})

test('another language is answered plainly, and nothing is done', async () => {
  const turn = await runTurn([owner('Erinnere mich morgen um 9 an den Zahnarzt')])
  expect(turn.calls).toEqual([])
  expect(turn.text).toContain(
    'nothing else was done: as the built-in model I understand requests in English only',
  )
})
