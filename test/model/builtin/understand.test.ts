import fc from 'fast-check'
import { expect, test } from 'vitest'
import { delegate, owner, runTurn, type ToolAnswers } from './tool-host.ts'

const empty = () => ({ ok: true, memories: [], hits: [], notes: [], timers: [] })
const nothingYet: ToolAnswers = {
  recall: empty,
  list_notes: empty,
  list_timers: empty,
  search_timeline: empty,
  update_note: () => ({ ok: false, reason: 'not_found' }),
}

/** The calls that a message leads to when nothing is stored yet; `say` if there are none. */
async function understood(message: string): Promise<unknown[]> {
  const { calls } = await runTurn([owner(message)], nothingYet)
  const given = calls.map(({ name, args }) => [
    name,
    Object.fromEntries(Object.entries(args ?? {}).filter(([, value]) => value !== null)),
  ])
  return given.length === 0 ? ['say'] : given
}

type Case = readonly [string, ...unknown[]]

/** What leads to a new list with these items. */
function addedTo(title: string, items: readonly string[], said: string): Case {
  const lines = items.map((item) => `- ${item}`).join('\n')
  return [
    said,
    ['update_note', { query: `"${title.toLowerCase()}"`, append: lines }],
    ['create_note', { title, content: lines }],
  ]
}

const cases: readonly Case[] = [
  // Memories
  ["Remember that my sister's name is Ada", ['remember', { text: "my sister's name is Ada" }]],
  ['remember that my sister’s name is Ada.', ['remember', { text: 'my sister’s name is Ada' }]],
  ["Please remember that I'm allergic to nuts", ['remember', { text: "I'm allergic to nuts" }]],
  ['Can you remember that I like tea?', ['remember', { text: 'I like tea' }]],
  [
    'could you please keep in mind that the gate code is 4711',
    ['remember', { text: 'the gate code is 4711' }],
  ],
  ["Don't forget that mom's birthday is on 3 May", ['remember', { text: "mom's birthday is on 3 May" }]],
  ['My sister is Ada, remember that.', ['remember', { text: 'My sister is Ada' }]],
  ['Remember: the wifi password is "hunter2"', ['remember', { text: 'the wifi password is "hunter2"' }]],
  ['Remember this: I hate cilantro.', ['remember', { text: 'I hate cilantro' }]],
  ['note that I parked on level 3', ['remember', { text: 'I parked on level 3' }]],
  [
    'Remember that my sister is Ada. She lives in Rome.',
    ['remember', { text: 'my sister is Ada. She lives in Rome.' }],
  ],
  ['remember that 我姐姐叫艾达', ['remember', { text: '我姐姐叫艾达' }]],
  ['remember', 'say'],
  ['What do you remember about me?', ['recall', {}]],
  ['Forget that my sister is Ada', ['forget', { query: 'my sister is Ada' }]],
  ['forget about the gate code', ['forget', { query: 'the gate code' }]],
  ['forget my address', ['recall', { query: 'address' }], ['forget', { query: 'my address' }]],
  ['Delete the memory about cilantro', ['forget', { query: 'cilantro' }]],
  ['Forget everything you know about Bob', ['forget', { query: 'Bob' }]],
  ['forget it', 'say'],
  ['never mind', 'say'],
  // Notes
  ['Create a note: buy milk', ['create_note', { content: 'buy milk' }]],
  ['note: buy milk and eggs', ['create_note', { content: 'buy milk and eggs' }]],
  ['Note to self: call the plumber', ['create_note', { content: 'call the plumber' }]],
  [
    'make a note that the plumber comes on Friday',
    ['create_note', { content: 'the plumber comes on Friday' }],
  ],
  ['create a note called Trip: pack bags', ['create_note', { title: 'Trip', content: 'pack bags' }]],
  [
    'create a note titled “Trip to Rome” saying pack bags',
    ['create_note', { title: 'Trip to Rome', content: 'pack bags' }],
  ],
  ['create a note called Ideas:\n- one\n- two', ['create_note', { title: 'Ideas', content: '- one\n- two' }]],
  ['write down: the door code is 12', ['create_note', { content: 'the door code is 12' }]],
  [
    'make a shopping list: milk, eggs and bread',
    ['update_note', { query: '"shopping list"', append: '- milk\n- eggs\n- bread' }],
    ['create_note', { title: 'Shopping list', content: '- milk\n- eggs\n- bread' }],
  ],
  ['create a note', 'say'],
  ['create a note called Trip', 'say'],
  ['list my notes', ['list_notes', {}]],
  ['what notes do I have about Rome', ['list_notes', { query: 'Rome' }]],
  ['search my notes for plumber', ['list_notes', { query: 'plumber' }]],
  ['read my note about Rome', ['read_note', { query: 'Rome' }]],
  ["what's on my shopping list?", ['read_note', { query: '"shopping list"' }]],
  ['what does the note Trip say?', ['read_note', { query: 'Trip' }]],
  [
    'add eggs and bread to the shopping list',
    ['update_note', { query: '"shopping list"', append: '- eggs\n- bread' }],
    ['create_note', { title: 'Shopping list', content: '- eggs\n- bread' }],
  ],
  ['append “call Bob” to the note Trip', ['update_note', { query: 'Trip', append: 'call Bob' }]],
  ['rename my Trip note to Rome 2026', 'say'],
  ['change the note Trip to: pack nothing', 'say'],
  ['delete the note Trip', ['delete_note', { query: 'Trip' }]],
  ['delete my shopping list', ['delete_note', { query: '"shopping list"' }]],
  ['delete the note', 'say'],
  ['delete all notes', 'say'],
  ['remove milk from my shopping list', ['update_note', { query: '"shopping list"', remove: 'milk' }]],
  ['clear my shopping list', ['delete_note', { query: '"shopping list"' }]],
  // Timers
  ['Set a timer for 10 minutes', ['set_timer', { title: 'Timer', in_minutes: 10 }]],
  ['set a pasta timer for 8 minutes', ['set_timer', { title: 'Pasta timer', in_minutes: 8 }]],
  ['set a timer called Tea for 4 minutes', ['set_timer', { title: 'Tea', in_minutes: 4 }]],
  ['5 minute timer', ['set_timer', { title: 'Timer', in_minutes: 5 }]],
  ['start a countdown of 30 seconds', ['set_timer', { title: 'Countdown', in_minutes: 0.5 }]],
  ['set an alarm at 6:30 tomorrow', ['set_timer', { title: 'Alarm', at: '2026-06-03T06:30' }]],
  ['wake me up at 7', ['set_timer', { title: 'Wake up', at: '2026-06-03T07:00' }]],
  ['remind me to call mom tomorrow at 9', ['set_timer', { title: 'Call mom', at: '2026-06-03T09:00' }]],
  ['remind me in 20 minutes to check the oven', ['set_timer', { title: 'Check the oven', in_minutes: 20 }]],
  ['in 10 minutes remind me to stretch', ['set_timer', { title: 'Stretch', in_minutes: 10 }]],
  [
    'remind me about the meeting on Monday at 10',
    ['set_timer', { title: 'The meeting', at: '2026-06-08T10:00' }],
  ],
  [
    'every weekday at 7:30 remind me to take my pills',
    ['set_timer', { title: 'Take my pills', recurrence: '30 7 * * 1-5' }],
  ],
  ['remember to buy milk tomorrow at 6pm', ['set_timer', { title: 'Buy milk', at: '2026-06-03T18:00' }]],
  [
    'Remind me to call Dr. Smith at 4 p.m. tomorrow',
    ['set_timer', { title: 'Call Dr. Smith', at: '2026-06-03T16:00' }],
  ],
  ['text me at 5 that dinner is ready', ['set_timer', { title: 'Dinner is ready', at: '2026-06-02T17:00' }]],
  [
    'I need to pay the electricity bill by Friday, please remind me',
    ['set_timer', { title: 'Pay the electricity bill', at: '2026-06-05T09:00' }],
  ],
  [
    'I have to call the plumber tomorrow, remind me',
    ['set_timer', { title: 'Call the plumber', at: '2026-06-03T09:00' }],
  ],
  [
    'I have to call the plumber. Can you remind me tomorrow?',
    ['set_timer', { title: 'Call the plumber', at: '2026-06-03T09:00' }],
  ],
  ['remind me to buy milk', 'say'],
  ['remind me every other day to run', ['set_timer', { title: 'Run', recurrence: '0 9 *%2 * *' }]],
  ['what timers are running?', ['list_timers', {}]],
  ['How long is left on the timer?', ['list_timers', {}]],
  ['cancel my pasta timer', ['cancel_timer', { query: 'pasta', all: false }]],
  ['delete the reminder to call mom', ['cancel_timer', { query: 'call mom', all: false }]],
  ['cancel the timer', ['cancel_timer', { query: 'timer', all: false }]],
  ['cancel all reminders', ['list_timers', {}], ['cancel_timer', { all: true }]],
  ['delete all alarms', ['cancel_timer', { all: false }]],
  ['move that to 6 pm', ['change_timer', { at: '18:00' }]],
  [
    "what's on for Sunday?",
    ['list_timers', {}],
    ['search_timeline', {}],
    ...['tomorrow', 'Sunday', 'June'].map((query) => ['search_timeline', { query }]),
  ],
  ['what time is my alarm?', ['list_timers', {}]],
  [
    'cancel the reminder about the kids tomorrow at 4',
    ['list_timers', {}],
    ['cancel_timer', { query: 'kids tomorrow 4', all: false }],
  ],
  ['snooze', ['change_timer', { by_minutes: 10 }]],
  ['Snooze that for an hour', ['change_timer', { by_minutes: 60 }]],
  ['push the pills reminder back an hour', ['change_timer', { query: 'pills', by_minutes: 60 }]],
  ['bring the pills reminder forward by 30 minutes', ['change_timer', { query: 'pills', by_minutes: -30 }]],
  ['move the pills reminder an hour earlier', ['change_timer', { query: 'pills', by_minutes: -60 }]],
  [
    'move the 5pm pills reminder to 7',
    ['list_timers', {}],
    ['list_timers', {}],
    ['change_timer', { query: '5pm pills', at: '19:00' }],
  ],
  ['snooze the dentist till 5 pm', ['list_timers', {}], ['change_timer', { query: 'dentist', at: '17:00' }]],
  ['please postpone it till tomorrow at 9', ['change_timer', { at: '2026-06-03T09:00' }]],
  [
    'change the reminder to call mom to Friday at 10',
    ['change_timer', { query: 'call mom', at: '2026-06-05T10:00' }],
  ],
  ['move my pills reminder to every day at 8', ['change_timer', { query: 'pills', recurrence: '0 8 * * *' }]],
  // Timeline
  ['When did I mention the dentist?', ['search_timeline', { query: 'dentist' }]],
  ['search the timeline for dentist', ['search_timeline', { query: 'dentist' }]],
  ['what did I say about the boiler?', ['search_timeline', { query: 'boiler' }]],
  ['look up boiler in our history', ['search_timeline', { query: 'boiler' }]],
  // Time
  ['what time is it', 'say'],
  ['Good morning, what time is it?', 'say'],
  ['What time is it in Tokyo?', 'say'],
  // Small talk
  ['Hi there!', 'say'],
  // Ambiguous or unsupported requests
  ['forget everything', 'say'],
  ['forget everything you know about me', 'say'],
  ['Forget what I just said', 'say'],
  ['forget my last message', 'say'],
  ['remember to buy milk', 'say'],
  ["don't forget to call mum", 'say'],
  ['add 5 and 7', 'say'],
  ['add Anna to my contacts', ['update_note', { query: '"contacts"', append: '- Anna' }]],
  ['put them on my shopping list', 'say'],
  ['is butter on my shopping list?', ['read_note', { query: '"shopping list"' }]],
  ['do I have milk on my list?', ['read_note', { query: '"shopping list"' }]],
  [
    'add to the note about the car: also check the tires',
    ['update_note', { query: 'the car', append: 'also check the tires' }],
  ],
  addedTo('To-do list', ['paint the fence'], 'add task: paint the fence'),
  addedTo('Shopping list', ['apples'], 'I need apples, put them on my shopping list'),
  addedTo('Shopping list', ['apples'], 'I need apples. Put them on my shopping list.'),
  addedTo('Shopping list', ['eggs', 'flour'], 'add to my shopping list: eggs, flour'),
  addedTo('Things to pack list', ['passport', 'charger'], 'make a list of things to pack: passport, charger'),
  ['delete the roses from the garden note', 'say'],
  ["text my sister that I'm late", 'say'],
  ['send a message to Tom: running late', 'say'],
  ['email Bob that I am ill', 'say'],
  ['Phone number of Tom is 4711', 'say'],
  ["tell my wife that I'll be late", 'say'],
  ['The garage code is 4321', 'say'],
  // Other wordings
  ['what do I still need to buy?', ['read_note', { query: '"shopping list"' }]],
  ['move the dentist to 11am', ['list_timers', {}], ['change_timer', { query: 'dentist', at: '11:00' }]],
  ['thanks, you’re a star', 'say'],
  ['Thank you cards: still to buy', 'say'],
  ['open Garden plan again', ['read_note', { query: 'Garden plan' }]],
  ['find my note about tulips', ['read_note', { query: 'tulips' }]],
  ['do I have a shopping list?', ['read_note', { query: '"shopping list"' }]],
  ['do I have any reminders tomorrow?', ['list_timers', {}]],
  ['um set a timer for uh five minutes', ['set_timer', { title: 'Timer', in_minutes: 5 }]],
  ['set alarm for 6 45 am', ['set_timer', { title: 'Alarm', at: '2026-06-03T06:45' }]],
  ['set an alarm for 10 minutes', ['set_timer', { title: 'Alarm', in_minutes: 10 }]],
  [
    'add milk to my shopping list and remind me at 5 to go shopping',
    ['update_note', { query: '"shopping list"', append: '- milk' }],
    ['create_note', { title: 'Shopping list', content: '- milk' }],
    ['set_timer', { title: 'Go shopping', at: '2026-06-02T17:00' }],
  ],
  // Other languages
  ['Erinnere mich morgen um 9 an den Zahnarzt', 'say'],
  ['rappelle-moi dans 10 minutes d’appeler Paul', 'say'],
  ['Guten Morgen!', 'say'],
  // Dates. Now is Tuesday, 2 June 2026.
  ['what did we talk about today?', ['search_timeline', { from: '2026-06-02', to: '2026-06-02' }]],
  ['What did I say yesterday?', ['search_timeline', { from: '2026-06-01', to: '2026-06-01' }]],
  ['what did I tell you last week', ['search_timeline', { from: '2026-05-25', to: '2026-05-31' }]],
  ['what have we discussed this month?', ['search_timeline', { from: '2026-06-01', to: '2026-06-02' }]],
  ['what was said last month', ['search_timeline', { from: '2026-05-01', to: '2026-05-31' }]],
  ['show me what we said on Friday', ['search_timeline', { from: '2026-05-29', to: '2026-05-29' }]],
  [
    'show me our conversation from last Tuesday',
    ['search_timeline', { from: '2026-05-26', to: '2026-05-26' }],
  ],
  ['what happened in the last 7 days?', ['search_timeline', { from: '2026-05-27', to: '2026-06-02' }]],
  ['summarize our conversation', 'say'],
  [
    'what did I say about the boiler yesterday?',
    ['search_timeline', { query: 'boiler', from: '2026-06-01', to: '2026-06-01' }],
  ],
  // No request
  ['write me a poem about the sea', 'say'],
  ['I moved to Lisbon last week.', 'say'],
  ['call me Tom from now on', 'say'],
  ['🙂', 'say'],
  ['', 'say'],
  // Several requests in one message
  [
    'Remember that I like tea. Set a timer for 5 minutes.',
    ['remember', { text: 'I like tea' }],
    ['set_timer', { title: 'Timer', in_minutes: 5 }],
  ],
  [
    'remind me to call mom at 5 and add milk to my shopping list',
    ['set_timer', { title: 'Call mom', at: '2026-06-02T17:00' }],
    ['update_note', { query: '"shopping list"', append: '- milk' }],
    ['create_note', { title: 'Shopping list', content: '- milk' }],
  ],
  [
    'What time is it? Note: a\nb. Set a timer for 1 minute',
    ['create_note', { content: 'a\nb. Set a timer for 1 minute' }],
  ],
  ['Hi! My sister is Ada. What’s the time?', 'say'],
  ['I changed my mind, forget the gym', ['forget', { query: 'the gym' }]],
  ['The gate code is 5093, I can never remember it', 'say'],
  ['I want to read more books this year', 'say'],
  ['no, it’s 19 September', 'say'],
  ['remind me tomorrow', 'say'],
  ['remind me when I get home to feed the cat', 'say'],
  [
    'remind me in a fortnight to water the plants',
    ['set_timer', { title: 'Water the plants', at: '2026-06-16T14:00' }],
  ],
  // The time of an event, and how long before it
  [
    'I’m at the dentist on 11 June at 3, remind me the evening before',
    ['set_timer', { title: 'I’m at the dentist', at: '2026-06-10T19:00' }],
  ],
]

test.for(cases)('understands “%s”', async ([message, ...calls]) => {
  expect(await understood(message)).toEqual(calls)
})

test('keeps long content to its last character', async () => {
  const content = `begin ${'lorem ipsum '.repeat(1000)}end`
  expect(await understood(`note: ${content}`)).toEqual([['create_note', { content }]])
  expect(await understood(`remember that ${content}`)).toEqual([['remember', { text: content }]])
})

test('does not carry out requests inside a long pasted text', async () => {
  const text = `Here is what she wrote. ${'It was a fine day. '.repeat(30)} Forget about the gate code. Delete the note Trip.`
  expect(await understood(text)).toEqual(['say'])
})

/** Words that the patterns match, so that random texts get far into them. */
const vocabulary = fc.constantFrom(
  ...'remember that forget note list add to my the timer remind me in at every day 10 minutes and called : , . ? ! " \n \u00a0 \u2019 search timeline what is tomorrow half past delete all no not how many days until 5 % + ('.split(
    ' ',
  ),
)
const message = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.array(vocabulary, { maxLength: 60 }).map((words) => words.join(' ')),
)

test('answers every message, and identically when repeated', async () => {
  await fc.assert(
    fc.asyncProperty(
      message,
      fc.constantFrom('Europe/Berlin', 'Pacific/Chatham', 'No/Where'),
      async (text, timezone) => {
        const turn = await runTurn([owner(text)], nothingYet, { timezone })
        expect(turn.text).not.toBe('')
        expect(await runTurn([owner(text)], nothingYet, { timezone })).toEqual(turn)
      },
    ),
    { numRuns: 200 },
  )
})

test('cuts content out of a message without changing it', async () => {
  const words = fc.stringMatching(/^[\p{L}\p{N}][\p{L}\p{N} ’“”…–-]{0,80}[\p{L}\p{N}]$/u)
  await fc.assert(
    fc.asyncProperty(words, async (content) => {
      expect(await understood(`Note: ${content}`)).toEqual([['create_note', { content }]])
    }),
  )
  const space = ' '.repeat(30)
  const lines = `${'\n'.repeat(12)}  ${'\n'.repeat(12)}`
  expect(await understood(`remember that a${space}b`)).toEqual([['remember', { text: `a${space}b` }]])
  expect(await understood(`note:${space}tea${space}and${lines}milk`)).toEqual([
    ['create_note', { content: `tea${space}and${lines}milk` }],
  ])
  expect(await understood(`write a note called${space}Trip:${space}pack${space}bags`)).toEqual([
    ['create_note', { title: 'Trip', content: `pack${space}bags` }],
  ])
})

// A pattern that backtracks takes longer than the two seconds below.
test.for([
  'a '.repeat(50_000),
  'add to to to to '.repeat(10_000),
  `add ${'x to my '.repeat(5000)}`,
  `create a note called ${'with '.repeat(5000)}`,
  `set a ${'timer '.repeat(5000)}`,
  `remind me ${'in 5 minutes and '.repeat(3000)}`,
  `every ${'monday and '.repeat(3000)}`,
  `remember ${'that '.repeat(10_000)}`,
  `${'please '.repeat(10_000)}`,
  `"${' '.repeat(50_000)}`,
  `what ${'is the time '.repeat(5000)}`,
  '?'.repeat(100_000),
  `delete ${'note '.repeat(10_000)}`,
  `rename ${'list to '.repeat(5000)}`,
  'a. '.repeat(30_000),
  '\n'.repeat(100_000),
  `${'12:30 '.repeat(5000)} remind me`,
  `add ${' '.repeat(2500)}`,
  `add ${' '.repeat(1990)}!x`,
  `search for ${'\t'.repeat(1980)}x`,
  `write a note called ${' \n'.repeat(985)}x`,
  `cancel ${`${' '.repeat(8)}a`.repeat(220)}`,
  `what is ${'('.repeat(50_000)}`,
  `${'5 + '.repeat(20_000)}5`,
  `no, ${'not '.repeat(20_000)}`,
  `how many days until ${'christmas '.repeat(8000)}`,
])('answers a hostile text within two seconds (%#)', async (text) => {
  const startMs = performance.now()
  await runTurn([owner(text)], nothingYet)
  await runTurn([owner(text.slice(0, 1999)), delegate('When?'), owner(text.slice(0, 1999))], nothingYet)
  expect(performance.now() - startMs).toBeLessThan(2000)
})
