import { expect, test } from 'vitest'
import { NEEDS_MODEL } from '../../../src/model/builtin/wording.ts'
import type { InputItem } from '../../../src/model/port.ts'
import { allTools, delegate, owner, runTurn, type ToolAnswers } from './tool-host.ts'

const none = () => ({ ok: true, memories: [], hits: [], notes: [], timers: [] })
const nothing: ToolAnswers = {
  recall: none,
  search_timeline: none,
  list_notes: none,
  update_note: () => ({ ok: false, reason: 'not_found' }),
}

const callOf = (name: string, args: object, output: object): InputItem[] => [
  { type: 'tool_call', callId: name, name, arguments: JSON.stringify(args) },
  { type: 'tool_result', callId: name, output: JSON.stringify(output) },
]

test.for([
  ['Hello! What can you do for me?', /^Here is what I can do:/],
  ['hi there', /^Hello!/],
  ['thanks a lot', /^You’re welcome\.$/],
  ['Good night!', /^Good night/],
  ['How do I connect a language model?', /\]\(\/settings#model\)/],
  ['is my data private?', /stays on the machine/],
  ['What is 17% of 80?', /^17% of 80 = 13\.6$/],
  ['2 + 3 * (4 - 1)', /= 11$/],
  ['what is 1,250 divided by 4', /= 312\.5$/],
  ['100 - 10%', /= 90$/],
  ['1/0', /divided by zero/],
  ['How many days until Christmas?', /^206 days until Christmas/],
  ['what day is it tomorrow?', /^Tomorrow is Wednesday, 3 June\.$/],
  ['what time is it', /^It’s 14:00 on Tuesday, 2 June\.$/],
  ['what time is it in Tokyo?', /^In Tokyo it’s 21:00/],
  ['My sister is called Anna', /^Noted\.$/],
  ['', /^I’m listening\.$/],
  ['add 5 and 7', /^5 and 7 = 12$/],
  ['pause my timer', /needs a language model/],
  ['please rename my holiday list to vacation', /needs a language model/],
  ['Restore my shopping list', /needs a language model/],
  ['Today my sister married Tom', /^Noted\.$/],
  ['Both my parents are teachers', /^Noted\.$/],
  ['I need to feed the cat', /^Noted\.$/],
  ['yes please', /^All right\.$/],
  ['good job', /^Thank you\.$/],
  ['are you there?', /^Yes, I’m here/],
  ['I love you', /^That is kind/],
  ['call me Tommy', /^Noted\.$/],
  ['what???', /^Ask me what/],
  ['asdf', /^That is on your timeline, but/],
  ['Erinnere mich morgen um 9 an den Zahnarzt', /I understood no request in it/],
] as const)('answers “%s” without a tool: %s', async ([said, expected]) => {
  const { text, calls } = await runTurn([owner(said)])
  expect(calls).toEqual([])
  expect(text).toMatch(expected)
})

test('refuses what needs a language model in one sentence with a link, but not twice in a row', async () => {
  const first = await runTurn([owner('write me a poem')], nothing)
  expect(first.text).toBe(NEEDS_MODEL)
  expect(NEEDS_MODEL).toMatch(/^[^.]{1,60}\[[^\]]+\]\(\/settings#model\)\.$/)
  const past = [owner('write me a poem'), delegate(first.text)]
  const second = await runTurn([...past, owner('draw a horse')], nothing)
  expect(second.text).not.toContain('language model')
  const third = [...past, owner('draw a horse'), delegate(second.text), owner('tell me a joke')]
  expect((await runTurn(third)).text).toBe(NEEDS_MODEL)
})

test('says what would answer a question of which it knows nothing, but not twice in a row', async () => {
  const asked = owner('What is the capital of France?')
  const first = await runTurn([asked], nothing)
  expect(first.text).toMatch(/^I found nothing about that\. .*\(\/settings#model\)\.$/)
  const again = await runTurn([asked, delegate(first.text), owner("what's the wifi code")], nothing)
  expect(again.text).toBe('I found nothing about that.')
})

test('names no environment variable', async () => {
  const asked = [
    'help',
    'who are you',
    'How do I connect a language model?',
    'Is my data private?',
    'write a poem',
  ]
  for (const said of asked)
    expect((await runTurn([owner(said)], nothing)).text).not.toMatch(/[A-Z]{2,}_[A-Z]/)
})

const ambiguous = {
  ok: false,
  reason: 'ambiguous',
  message: '2 memories match: “I live in Cardiff” (2026-05-01); “I work in Cardiff” (2026-06-02). Which one?',
}

test('offers a choice of memories and understands the answer', async () => {
  const asked = await runTurn([owner('forget about Cardiff')], { forget: () => ambiguous })
  expect(asked.text).toBe(
    'Which one do you mean?\n\n- You live in Cardiff (Friday, 1 May)\n- You work in Cardiff (today)',
  )
  const past = [
    owner('forget about Cardiff'),
    ...callOf('forget', { query: 'Cardiff' }, ambiguous),
    delegate(asked.text),
  ]
  for (const answer of ['the second one', 'work', 'the last one', 'I mean the work one']) {
    const { calls } = await runTurn([...past, owner(answer)])
    expect(calls).toEqual([{ name: 'forget', args: { query: 'You work in Cardiff' } }])
  }
  expect((await runTurn([...past, owner('never mind')])).text).toBe('All right.')
})

test.for([
  [[], ''],
  [[{ kind: 'message', count: 2, items: ['I like tea', 'Tea!'] }], ' What you said stays on the timeline.'],
  [
    [
      { kind: 'message', count: 1, items: ['I like tea'] },
      { kind: 'note', count: 2, items: ['Trip', 'Trip'] },
    ],
    ' Notes, reminders and tasks about it stay.',
  ],
  [
    [
      { kind: 'note', count: 1, items: ['Trip'] },
      { kind: 'timer', count: 3, items: ['Tea', 'More tea', 'Cake'] },
    ],
    ' Notes, reminders and tasks about it stay.',
  ],
] as const)('says what was forgotten and, for %j, what stays', async ([stays, expected]) => {
  const goes = [{ kind: 'memory', count: 1, items: ['I like tea'] }]
  const forget = () => ({ ok: true, forgotten: 1, undoSeconds: 60, goes, stays })
  expect((await runTurn([owner('forget about tea')], { forget })).text).toBe(
    `Forgotten: you like tea. Say “undo” within a minute to bring it back.${expected}`,
  )
})

test.each([
  "I won 900 at the races, don't keep that",
  "I won 900 at the races. Please don't remember this.",
  "Don't keep this: I won 900 at the races",
  'Between you and me, I won 900 at the races',
])('remembers nothing of %j', async (said) => {
  const turn = await runTurn([owner(said)])
  expect(turn.calls).toEqual([])
  expect(turn.text).toBe('I won’t keep that.')
})

test('says so if a request to remember asks not to keep it', async () => {
  const said = owner('Remember that my shed code is 4410. Actually, don’t keep this.')
  const { text } = await runTurn([said], { remember: () => ({ ok: false, reason: 'not_to_keep' }) })
  expect(text).toBe('I won’t keep that.')
})

test('restores the last forgotten memory on “undo” if the tool is offered', async () => {
  const past = [
    owner('forget about tea'),
    ...callOf('forget', { query: 'tea' }, { ok: true }),
    delegate('Forgotten.'),
  ]
  for (const said of ['undo', 'undo that', 'no, keep it']) {
    const turn = await runTurn([...past, owner(said)])
    expect(turn.calls).toEqual([{ name: 'undo_forget', args: {} }])
    expect(turn.text).toBe('I remember again what I last forgot.')
  }
  const restored = [{ kind: 'memory', count: 1, items: ['I like tea'] }]
  const told = await runTurn([owner('undo')], { undo_forget: () => ({ ok: true, restored }) })
  expect(told.text).toBe('I remember again: you like tea.')
  const gone = await runTurn([owner('undo')], { undo_forget: () => ({ ok: false }) })
  expect(gone.text).toMatch(/^I can only bring back what I forgot .* under \[Notes\]/)
  const without = allTools.filter(({ name }) => name !== 'undo_forget')
  expect((await runTurn([...past, owner('undo')], {}, { tools: without })).calls).toEqual([])
})

test('completes a reminder with the answer to “When?”', async () => {
  const asked = [owner('Remind me to call Anna.'), delegate('When?')]
  const { calls } = await runTurn([...asked, owner('tomorrow at 9')])
  expect(calls).toMatchObject([{ name: 'set_timer', args: { title: 'Call Anna', at: '2026-06-03T09:00' } }])
  const unclear = await runTurn([...asked, owner('soonish')])
  expect(unclear.text).toMatch(/^When\? For example/)
  const later = await runTurn([...asked, owner('soonish'), delegate(unclear.text), owner('in 20 minutes')])
  expect(later.calls).toMatchObject([{ name: 'set_timer', args: { in_minutes: 20 } }])
  expect((await runTurn([...asked, owner('what time is it?')])).text).toMatch(/^It’s 14:00/)
})

test.each([
  ['what’s my name?', 'I found nothing about that.'],
  ['call me Rob', 'Noted.'],
  ['my cousin Nina moved to Rome', 'Noted.'],
  ['I moved house last week', 'Noted.'],
  ['I like tea', 'Noted.'],
])('takes “%s” for no answer to “When?”', async (said, expected) => {
  const asked = [owner('Remind me to call Anna.'), delegate('When?'), owner(said)]
  expect((await runTurn(asked, nothing)).text).toBe(expected)
})

test('replaces a memory when the owner corrects it', async () => {
  const memories = [
    { id: 'old', text: 'My sister is called Anne' },
    { id: 'other', text: 'Anne from work is called Anne Smith' },
  ]
  const past = [owner('My sister is called Anne.'), delegate('Noted.')]
  const turn = await runTurn([...past, owner('No, my sister is called Anna, not Anne.')], {
    recall: () => ({ ok: true, memories }),
  })
  expect(turn.calls.filter(({ name }) => name !== 'recall').map(({ args }) => args)).toEqual([
    { text: 'my sister is called Anna' },
    { query: 'old' },
  ])
  expect(turn.text).toBe('I’ll remember: your sister is called Anna.')
})

test('creates, extends, reads and shortens a list', async () => {
  const lists: ToolAnswers = {
    read_note: () => ({ ok: true, note: { id: 'l', content: '- milk\n- eggs\n\n- Bread' } }),
    update_note: () => ({ ok: true, note: { id: 'l' } }),
  }
  const started = await runTurn([owner('add milk, eggs and bread to my shopping list')], nothing)
  expect(started.calls.at(-1)).toEqual({
    name: 'create_note',
    args: { title: 'Shopping list', content: '- milk\n- eggs\n- bread' },
  })
  const added = await runTurn([owner('add oat milk to my shopping list')], lists)
  expect(added.calls.at(-1)).toMatchObject({
    name: 'update_note',
    args: { query: '"shopping list"', append: '- oat milk' },
  })
  expect(added.text).toBe('Added to your [shopping list](/notes/l): oat milk.')
  const shown = await runTurn([owner('what’s on my shopping list?')], lists)
  expect(shown.text).toBe('On your [shopping list](/notes/l):\n\n- milk\n- eggs\n- Bread')
  const shorter = await runTurn([owner('take eggs and bread off the list')], lists)
  expect(shorter.calls.at(-1)).toMatchObject({ name: 'update_note', args: { remove: 'eggs\nbread' } })
  const partly = { ...lists, update_note: () => ({ ok: true, note: { id: 'l' }, absent: ['the Jam'] }) }
  const { text } = await runTurn([owner('take the eggs and the Jam off the list')], partly)
  expect(text).toBe('Taken off your [shopping list](/notes/l): the eggs. I don’t see the Jam there.')
})

test('writes dates, times and numbers as the language of the owner does', async () => {
  const answer = async (said: string) => (await runTurn([owner(said)], nothing, { language: 'de' })).text
  expect(await answer('what time is it')).toBe('It’s 14:00 on 02.06.2026.')
  expect(await answer('what is 17% of 8001?')).toBe('17% of 8001 = 1.360,17')
  expect(await answer('how much is a 15% tip on 84.50?')).toBe('15% tip on 84.50 = 12,675')
  expect(await answer('what’s a 4x4?')).not.toContain('=')
  expect(await answer('how many days until Christmas?')).toBe('206 days until Christmas.')
  expect(await answer('what day is Christmas?')).toBe('Christmas is on 25.12.2026.')
})

test('says in the language of the owner that it knows only English, and what it does not keep', async () => {
  const answer = async (said: string) => (await runTurn([owner(said)], nothing, { language: 'de' })).text
  expect(await answer('Merk dir meinen Geburtstag')).toContain('verstehe ich nur einfaches Englisch')
  expect(await answer('Meine PIN ist 4821, merk dir das nicht.')).toBe('Das behalte ich nicht.')
})

test.each([
  'the day after tomorrow at nine in the morning',
  'on Friday at 5 in the afternoon',
  'I think tomorrow at nine',
  'how about tomorrow at 9?',
  'at 5, I guess',
])('sets a reminder by the answer “%s”', async (answer) => {
  const { calls } = await runTurn([owner('Remind me to call Anna.'), delegate('When?'), owner(answer)])
  expect(calls).toMatchObject([{ name: 'set_timer', args: { title: 'Call Anna' } }])
})
