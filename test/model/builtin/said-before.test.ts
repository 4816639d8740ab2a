import { expect, test } from 'vitest'
import { delegate, owner, runTurn } from './tool-host.ts'

/** Tuesday, 2 June 2026, 14:00 in Berlin, is now. */
const timer = { id: 't1', title: 'The bins', dueAt: '2026-06-09T05:30:00.000Z', recurrence: null }
const set_timer = () => ({ ok: true, timer })
const nothing = () => ({ ok: true, memories: [], hits: [], notes: [], timers: [] })

test('sets a reminder at the same time as the one before', async () => {
  const past = [
    owner('remind me about the bins on tuesday mornings at half 7'),
    delegate('I’ll remind you about the bins every Tuesday at 07:30, first on Tuesday, 9 June.'),
  ]
  const { calls } = await runTurn([...past, owner('and the recycling every other thursday same time')], {
    set_timer,
  })
  expect(calls).toMatchObject([
    { name: 'set_timer', args: { title: 'The recycling', recurrence: '30 7 * * 4%2' } },
  ])
})

test('moves a reminder to another day at the same time', async () => {
  const { calls } = await runTurn([owner('move the bins reminder to friday at the same time')], {
    list_timers: () => ({ ok: true, timers: [timer] }),
    change_timer: () => ({ ok: true, timer }),
  })
  expect(calls.at(-1)).toMatchObject({ name: 'change_timer', args: { query: 't1', at: '2026-06-05T07:30' } })
})

test('reminds of the answer just given', async () => {
  const past = [
    owner('when does my car insurance run out'),
    delegate('You told me today: car insurance runs out 14 February.'),
  ]
  const { calls } = await runTurn([...past, owner('remind me a week before')], { set_timer })
  expect(calls).toMatchObject([
    { name: 'set_timer', args: { title: 'Car insurance runs out', at: '2027-02-07T09:00' } },
  ])
})

test.each([
  ['my dentist is next thursday at 10:15', '2026-05-27T09:00:00.000Z', '2026-06-03T10:15'],
  ['my dentist is on Friday at 6', '2026-06-01T09:00:00.000Z', '2026-06-04T18:00'],
  ['my dentist is on 12 August at 9 am', '2026-05-01T09:00:00.000Z', '2026-08-11T09:00'],
  ['my dentist is every Thursday at 7 pm', '2026-05-11T09:00:00.000Z', '2026-06-03T19:00'],
  ['my dentist is tomorrow evening', '2026-06-02T09:00:00.000Z', '2026-06-02T19:00'],
])('counts “%s” from when it was said, on %s', async (text, since, at) => {
  const { calls } = await runTurn([owner('remind me a day before my dentist')], {
    recall: () => ({ ok: true, memories: [{ id: 'm', text, since }] }),
    search_timeline: nothing,
    set_timer,
  })
  expect(calls.at(-1)).toMatchObject({ name: 'set_timer', args: { at } })
})

const LIST = 'On your [shopping list](/notes/n1):\n\n- milk'

test.each([
  ['also toothpaste', ['update_note', { query: '"shopping list"', append: '- toothpaste' }]],
  ["what's left?", ['read_note', { query: '"shopping list"' }]],
])('understands “%s” after a list', async (said, [name, args]) => {
  const { calls } = await runTurn([owner('shopping list'), delegate(LIST), owner(said)], {
    update_note: () => ({ ok: true, note: { id: 'n1', title: 'Shopping list' } }),
    read_note: () => ({ ok: true, note: { id: 'n1', title: 'Shopping list', content: '- milk' } }),
  })
  expect(calls).toMatchObject([{ name, args }])
})

test('adds to a note by its title, or says that there is none', async () => {
  const said = [owner('add loose door handle to the flat inventory')]
  const found = await runTurn(said, {
    update_note: () => ({ ok: true, note: { id: 'n2', title: 'Flat inventory' } }),
  })
  expect(found.calls).toMatchObject([
    { name: 'update_note', args: { query: '"flat inventory"', append: '- loose door handle' } },
  ])
  expect(found.text).toBe('Added to your [Flat inventory](/notes/n2): loose door handle.')
  const none = await runTurn(said, { update_note: () => ({ ok: false, reason: 'not_found' }) })
  expect(none.text).toBe(
    'I found no list or note called “flat inventory”. “Add loose door handle to my flat inventory list” starts a list.',
  )
})

test.each([
  ['boiler service again in a year, remind me', { title: 'Boiler service again', at: '2027-06-02T14:00' }],
  [
    'email the landlord tomorrow at 9, please remind me',
    { title: 'Email the landlord', at: '2026-06-03T09:00' },
  ],
  [
    'I take one pill every morning at 8, can you remind me?',
    { title: 'I take one pill', recurrence: '0 8 * * *' },
  ],
  ["don't let me forget the parcel tomorrow", { title: 'The parcel', at: '2026-06-03T09:00' }],
])('sets a reminder for “%s”', async (said, args) => {
  const { calls } = await runTurn([owner(said)], { set_timer })
  expect(calls).toMatchObject([{ name: 'set_timer', args }])
})

test('knows the name in “I’m Tom, I’ve just moved”', async () => {
  const text = 'I’m Tom, I’ve just moved to Leeds with my girlfriend Priya'
  const { text: reply } = await runTurn([owner("what's my name?")], {
    recall: () => ({ ok: true, memories: [{ id: 'm', text, since: null }] }),
    search_timeline: nothing,
  })
  expect(reply).toMatch(/^You told me: you’re Tom/)
})

test.each([
  ['what day is the 25th', 'Thursday, 25 June.'],
  ['20% tip on 48.50', '20% tip on 48.50 = 9.70'],
])('answers “%s” with “%s”', async (said, reply) => {
  expect((await runTurn([owner(said)])).text).toBe(reply)
})

test.each([
  ['add 2 minutes', 'change_timer', { query: 't1', by_minutes: 2 }],
  ['stop the timer', 'cancel_timer', { query: 't1' }],
])('takes “%s” for the reminder just named', async (said, name, args) => {
  const pasta = { ...timer, title: 'Pasta' }
  const past = [owner('set a timer 12 min pasta'), delegate('Your pasta timer goes off at 14:12.')]
  const { calls } = await runTurn([...past, owner(said)], {
    list_timers: () => ({ ok: true, timers: [pasta, { ...timer, id: 't2', title: 'Timer' }] }),
    change_timer: () => ({ ok: true, timer: pasta }),
    cancel_timer: () => ({ ok: true, timers: [pasta] }),
  })
  expect(calls.at(-1)).toMatchObject({ name, args })
})

test('reminds before a stay of several days', async () => {
  const { calls } = await runTurn([owner('remind me 3 weeks before Tenerife to check the passports')], {
    recall: () => ({
      ok: true,
      memories: [{ id: 'm', text: 'We are going to Tenerife from 14 to 21 February', since: null }],
    }),
    search_timeline: nothing,
    set_timer,
  })
  expect(calls.at(-1)).toMatchObject({ name: 'set_timer', args: { at: '2027-01-24T09:00' } })
})

test('answers “what’s my number” with the owner’s own', async () => {
  const { text } = await runTurn([owner("what's my number")], {
    recall: () => ({
      ok: true,
      memories: [
        {
          id: 'm1',
          text: 'The school is called St Mary’s and the phone number is 0161 496 0456',
          since: null,
        },
        { id: 'm2', text: 'I got a new phone number 07700 900 555', since: null },
      ],
    }),
    search_timeline: nothing,
  })
  expect(text).toBe('You told me: you got a new phone number 07700 900 555.')
})

test('lists what became a reminder once, although it did not say “remind me”', async () => {
  const recycling = { ...timer, title: 'The recycling', dueAt: '2026-06-04T05:30:00.000Z' }
  const { text } = await runTurn([owner("what's on this week?")], {
    list_timers: () => ({ ok: true, timers: [recycling] }),
    search_timeline: () => ({
      ok: true,
      hits: [
        { at: '2026-06-02T09:00:00.000Z', who: 'owner', text: 'and the recycling is every other Thursday' },
        { at: '2026-06-02T08:00:00.000Z', who: 'owner', text: 'the recyclers are coming on Thursday' },
      ],
    }),
  })
  expect(text).toBe(
    '- The recycling: on Thursday, 4 June at 07:30\n- You told me today: the recyclers are coming on Thursday',
  )
})

test('asks for one reminder at a time before an event', async () => {
  const { calls, text } = await runTurn([
    owner("doctor's appointment on 4th december at 2.30, remind me the day before and 2 hours before"),
  ])
  expect(calls).toEqual([])
  expect(text).toBe('Two different times need two reminders. Please ask for each of them.')
})

test.each(['oh dear, I forgot the party', 'and what about the eggs?', 'and Tom is coming tomorrow'])(
  'takes “%s” for no item of the list just shown',
  async (said) => {
    const { calls } = await runTurn([owner('shopping list'), delegate(LIST), owner(said)], {
      recall: nothing,
      search_timeline: nothing,
      list_notes: nothing,
      list_timers: nothing,
    })
    expect(calls.map(({ name }) => name)).not.toContain('update_note')
  },
)

test('does not read “at the same time” into a title', async () => {
  const past = [owner('remind me at 9 to run'), delegate('I’ll remind you to run tomorrow at 09:00.')]
  const said = 'remind me on friday at 6 to make sure the twins eat at the same time'
  const { calls } = await runTurn([...past, owner(said)], { set_timer })
  expect(calls).toMatchObject([
    { args: { title: 'Make sure the twins eat at the same time', at: '2026-06-05T18:00' } },
  ])
})

test('asks which reminder should be “12 minutes”, which is no time of day', async () => {
  const pill = { ...timer, title: 'Pill' }
  const { calls } = await runTurn([owner('the pill reminder should be 12 minutes')], {
    list_timers: () => ({ ok: true, timers: [pill] }),
    change_timer: () => ({ ok: true, timer: pill }),
  })
  expect(calls.map(({ name }) => name)).not.toContain('change_timer')
})

test('moves “the pill reminder should be 9 not 8”', async () => {
  const pill = { ...timer, title: 'Pill', dueAt: '2026-06-03T06:00:00.000Z' }
  const { calls } = await runTurn([owner('the pill reminder should be 9 not 8')], {
    list_timers: () => ({ ok: true, timers: [pill] }),
    change_timer: () => ({ ok: true, timer: pill }),
  })
  expect(calls.at(-1)).toMatchObject({ name: 'change_timer', args: { query: 't1', at: '09:00' } })
})

test('answers from the statement in a request for a reminder', async () => {
  const { text } = await runTurn([owner('what pills do I take?')], {
    recall: nothing,
    search_timeline: () => ({
      ok: true,
      hits: [
        { at: '2026-06-02T09:00:00.000Z', who: 'owner', text: 'Remind me of the pills.' },
        {
          at: '2026-06-02T08:00:00.000Z',
          who: 'owner',
          text: 'I take blue pills every morning, can you remind me?',
        },
      ],
    }),
  })
  expect(text).toBe('You told me today: you take blue pills every morning.')
})

const scones =
  'the recipe for scones: 225g self raising flour, 55g butter, 25g sugar, 150ml milk, bake at 220C'

test('takes the words before the colon of a long note as its title', async () => {
  const { calls } = await runTurn([owner(`please write down ${scones}`)], {
    create_note: () => ({ ok: true, note: { id: 'n1', title: 'the recipe for scones' } }),
  })
  expect(calls).toEqual([
    {
      name: 'create_note',
      args: { title: 'the recipe for scones', content: scones.slice('the recipe for scones: '.length) },
    },
  ])
})

test('shows the note that answers a question, without its title twice', async () => {
  const note = {
    id: 'n1',
    title: 'the recipe for scones: 225g self…',
    content: scones,
    excerpt: scones.slice(0, 40),
  }
  for (const said of ['how much butter do I need for the scones?', 'the recipe for scones?']) {
    const { text } = await runTurn([owner(said)], {
      recall: nothing,
      search_timeline: nothing,
      // Nothing in the note says “need”.
      list_notes: ({ query }) => ({ ok: true, notes: /need/.test(String(query)) ? [] : [note] }),
      read_note: () => ({ ok: true, note }),
    })
    expect(text).toBe(`In your [note](/notes/n1):\n\n${scones}`)
  }
})
