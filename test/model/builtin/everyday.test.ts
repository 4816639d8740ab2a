import { expect, test } from 'vitest'
import { delegate, owner, runTurn } from './tool-host.ts'

/** Tuesday, 2 June 2026, 14:00 in Berlin, is now. */
const timer = { id: 't1', title: 'The bins', dueAt: '2026-06-09T05:30:00.000Z', recurrence: null }
const set_timer = () => ({ ok: true, timer })
const nothing = () => ({ ok: true, memories: [], hits: [], notes: [], timers: [] })

const LIST = 'On your [shopping list](/notes/n1):\n\n- milk'

test.each([
  'what do you have for Friday?',
  'what else is happening on Friday?',
  'how does my Friday look?',
  'what does my week look like?',
])('“%s” asks for the reminders of the day', async (said) => {
  const due = { ...timer, dueAt: '2026-06-05T05:30:00.000Z' }
  const list_timers = () => ({ ok: true, timers: [due] })
  const { text } = await runTurn([owner(said)], { list_timers, search_timeline: nothing, recall: nothing })
  expect(text).toBe('- The bins: on Friday, 5 June at 07:30')
})

test('“what did I do on Friday?” asks for no reminder', async () => {
  const { calls } = await runTurn([owner('what did I do on Friday?')], { search_timeline: nothing })
  expect(calls.map(({ name }) => name)).not.toContain('list_timers')
})

test('asks what a new list holds, and puts the answer on it', async () => {
  const asked = await runTurn([owner('start a list called Christmas presents')])
  expect(asked.text).toBe('What should go on your Christmas presents list?')
  const past = [owner('make a to-do list'), delegate('What should go on your to-do list?')]
  for (const [said, item] of [
    ['call the plumber', 'call the plumber'],
    ['put stamps on it', 'stamps'],
  ]) {
    const { calls } = await runTurn([...past, owner(said ?? '')], {
      update_note: () => ({ ok: true, note: {} }),
    })
    expect(calls).toEqual([
      { name: 'update_note', args: expect.objectContaining({ query: '"to-do list"', append: `- ${item}` }) },
    ])
  }
  const { calls } = await runTurn([owner('make me a list of things to do before the trip')])
  expect(calls).toEqual([])
})

test('takes an item off the list just shown', async () => {
  const past = [owner('show me the shopping list'), delegate(LIST)]
  for (const said of ['take the milk off it', 'take the milk off']) {
    const { calls } = await runTurn([...past, owner(said)], { update_note: () => ({ ok: true, note: {} }) })
    expect(calls).toMatchObject([
      { name: 'update_note', args: { query: '"shopping list"', remove: 'the milk' } },
    ])
  }
})

test('answers about somebody with what it knows of them', async () => {
  const memories = [{ id: 'm', text: 'Jonas is allergic to peanuts', since: '2026-06-02T09:00:00.000Z' }]
  const { text } = await runTurn([owner("what shouldn't I cook for Jonas?")], {
    recall: () => ({ ok: true, memories }),
    search_timeline: nothing,
  })
  expect(text).toBe('I don’t know exactly. You told me today: Jonas is allergic to peanuts.')
})

test.each([
  ['when is my birthday?', "Ben's birthday is on 7 June"],
  ['where do I live?', 'Ben lives in Leeds'],
  ['what am I allergic to?', "Jonas's allergy is nuts"],
  ['what car does Tom drive?', 'My car is a Skoda'],
])('does not answer “%s” with “%s”', async (said, fact) => {
  const memories = [{ id: 'm', text: fact, since: '2026-06-02T09:00:00.000Z' }]
  const { text } = await runTurn([owner(said)], {
    recall: () => ({ ok: true, memories }),
    search_timeline: nothing,
    list_notes: nothing,
    list_timers: nothing,
  })
  expect(text).toMatch(/^I found nothing about that/)
})

test.each([
  ['where are my keys?', 'Spare keys are in the drawer'],
  ['what do I like to do on Saturday?', 'On Saturdays I like to swim'],
])('answers “%s” with “%s”', async (said, fact) => {
  const memories = [{ id: 'm', text: fact, since: '2026-06-02T09:00:00.000Z' }]
  const { text } = await runTurn([owner(said)], {
    recall: () => ({ ok: true, memories }),
    search_timeline: nothing,
    list_timers: nothing,
  })
  expect(text).toMatch(/^You told me/)
})

test('sets no reminder for two requests in one', async () => {
  for (const said of [
    'remind me on Monday to call Ed and on Thursday to call Al',
    'remind me tomorrow to call Ed and on Thursday at 5 to call Al',
  ]) {
    const { calls, text } = await runTurn([owner(said)])
    expect([calls, text]).toEqual([[], expect.stringMatching(/^Two different times/)])
  }
  const one = await runTurn([owner('remind me on Monday to book the train and Thursday’s hotel')], {
    set_timer,
  })
  expect(one.calls).toHaveLength(1)
})

test('keeps the quotes and the emoji of what it writes', async () => {
  const written = async (said: string) =>
    (
      await runTurn([owner(said)], {
        update_note: () => ({ ok: true, note: {} }),
        create_note: () => ({ ok: true, note: {} }),
        set_timer,
      })
    ).calls[0]?.args
  expect(await written('add "green tea" & honey to my shopping list')).toMatchObject({
    append: '- "green tea" & honey',
  })
  expect(await written('note: 🌷 garden ideas')).toMatchObject({ content: '🌷 garden ideas' })
  expect(await written('remind me 🎂 tomorrow at 10')).toMatchObject({ title: '🎂' })
  expect(await written(`add ${'❤️'.repeat(500)} milk to my shopping list`)).toMatchObject({
    append: expect.stringContaining('milk'),
  })
})

test('takes what was bought off the shopping list, if it is there', async () => {
  const bought = async (reply: object) =>
    await runTurn([owner('I bought the milk')], { update_note: () => reply })
  expect((await bought({ ok: true, note: { id: 'n1' } })).text).toBe(
    'Taken off your [shopping list](/notes/n1): the milk.',
  )
  expect((await bought({ ok: false, reason: 'not_found' })).text).toBe('Noted.')
})

test('a “yes” confirms nothing that waits in the browser', async () => {
  const past = [owner('cancel the tea'), delegate('Nothing is done yet. Please confirm it on your timeline.')]
  expect((await runTurn([...past, owner('yes')])).text).toMatch(/^A “yes” here is not enough/)
})

test('cancels every timer on “cancel all reminders” and a “yes”', async () => {
  const pasta = { ...timer, id: 't2', title: 'Pasta' }
  const tools = {
    list_timers: () => ({ ok: true, timers: [timer, pasta] }),
    cancel_timer: () => ({ ok: true, timers: [timer, pasta] }),
  }
  const asked = await runTurn([owner('cancel all reminders')], tools)
  expect(asked.calls.map(({ name }) => name)).toEqual(['list_timers'])
  expect(asked.text).toMatch(/^2 reminders would be gone for good.*- The bins.*- Pasta/s)
  const past = [owner('cancel all reminders'), delegate(asked.text)]
  const { calls, text } = await runTurn([...past, owner('yes please')], tools)
  expect(calls).toEqual([{ name: 'cancel_timer', args: { query: null, all: true } }])
  expect(text).toBe('Cancelled: “The bins”, “Pasta”.')
  expect((await runTurn([...past, owner('no')], tools)).calls).toEqual([])
})
