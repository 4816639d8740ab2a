import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ScriptedReply } from '../doubles/realtime/session.ts'
import { script, speech } from '../phone/call/call-harness.ts'
import { ofType, startWithPhone, type TimelineEvent } from '../phone/phone-harness.ts'
import { GUEST, OWNER, tokenOf } from '../phone/provider.ts'
import { text } from '../sms/sms-harness.ts'
import { testDirectory } from '../support/directory.ts'
import { ask, DEEDS, leftOf, proposedTools, startObedient, UNTOUCHED } from './obedient-house.ts'

const PIN = '480213957'
const FULL = 'TN-Validation-Passed-A'
const greets = { audio: speech('caller-thanks'), transcript: 'Hello.' }
/** The keypad ignores keys for this long after an offer. */
const OFFER_SETTLES_MS = 1_100
const DAY_MS = 24 * 60 * 60_000

type Options = Parameters<typeof startObedient>[0]

/** A house whose calls obey the caller: each `deed` makes the model call these tools of DEEDS. */
async function startCalls({ environment, ...options }: Options = {}) {
  const queue: NonNullable<ScriptedReply['toolCalls']>[] = []
  let calls = 0
  const house = await startObedient({
    ...options,
    script: script({
      words: () => 'Do the rest.',
      reply: ({ asked }) => {
        const toolCalls = asked === 'caller' ? queue.shift() : undefined
        return toolCalls ? { toolCalls } : greets
      },
    }),
    environment: { PHONE_PIN: PIN, ...environment },
  })
  /** What the keypad told the model. */
  const told = () =>
    house.realtime.received.flatMap(({ type, item }) => {
      const said = type === 'conversation.item.create' ? JSON.stringify(item) : ''
      return said.includes('from the keypad') ? [said] : []
    })
  async function call(callSid: string, { verdict = FULL, from = OWNER } = {}) {
    const fields = { ...house.provider.call(callSid, from), StirVerstat: verdict }
    const markup = await house.provider.post('/voice-markup', fields)
    const caller = await house.stream(callSid, tokenOf(markup.text))
    const spanOf = (all: { payload: { callSid?: string }; spanId: string }[]) =>
      all.find(({ payload }) => payload.callSid === callSid)?.spanId
    await house.eventsUntil('the greeting', (all) =>
      ofType(all, 'call.reply.spoken').some(({ payload }) => payload.callSid === callSid),
    )
    return {
      /** Presses keys. Resolves with what the keypad then tells the model. */
      async press(keys: string) {
        // The last offer of a round follows its results.
        await pause(OFFER_SETTLES_MS)
        const heard = told().length
        caller.press(keys)
        await caller.until(`the effect of ${keys}`, () => told().length > heard)
        return told().at(-1) ?? ''
      },
      /** Presses keys that should have no effect, and lets some time pass. */
      async pressInVain(keys: string) {
        await pause(OFFER_SETTLES_MS)
        const heard = told().length
        caller.press(keys)
        await caller.wait(4_000)
        expect(told()).toHaveLength(heard)
      },
      /** Has the model call tools. Resolves with their results. */
      async order(...names: readonly string[]) {
        const toolCalls = names.map((name) => {
          calls += 1
          return { callId: `call_${calls}`, name, arguments: JSON.stringify(TOOLS[name]) }
        })
        queue.push(toolCalls)
        const ids = toolCalls.map(({ callId }) => callId)
        // A key silences the caller for a moment.
        await caller.wait(2_500)
        await caller.say(speech('caller-question'))
        const all = await house.eventsUntil('the results', (events) =>
          ids.every((id) => ofType(events, 'tool.returned').some(({ payload }) => payload.callId === id)),
        )
        return ofType(all, 'tool.returned').filter(({ payload }) => ids.includes(payload.callId))
      },
      /** Waits until the keypad has told the model so. */
      tells: (words: string) => caller.until(words, () => told().at(-1)?.includes(words) ?? false),
      async hangUp() {
        caller.hangUp()
        await house.eventsUntil('the end', (all) => {
          const spanId = spanOf(all)
          return ofType(all, 'call.ended').some((event) => event.spanId === spanId)
        })
      },
      spanOf,
    }
  }
  return { ...house, call, told }
}

const TOOLS: Readonly<Record<string, unknown>> = {
  ...DEEDS,
  create_note: { title: 'Call', content: 'Ring back' },
  list_notes: { query: null },
}

const typesOf = (all: readonly { type: string }[], area: string) =>
  all.flatMap(({ type }) => (type.startsWith(area) ? [type] : []))

test('a PIN lets a call confirm the shown deed once by a key, and its digits are kept nowhere', async () => {
  const house = await startCalls({ environment: { PHONE_PIN: '', LOG_LEVEL: 'trace', ITEMS_DEBUG: '1' } })
  const { client } = house.service
  const stored = await client.send('PUT', '/api/config', JSON.stringify({ entries: { PHONE_PIN: PIN } }), {
    headers: { 'content-type': 'application/json' },
  })
  expect(stored.status).toBe(200)
  const call = await house.call('CA1')
  await call.order('delete_note')
  await call.tells('first enter your PIN')
  await call.pressInVain('1')
  expect((await leftOf(house)).diary).toBe('Dear diary')
  // The key before it must not spoil the entry: * clears it.
  const accepted = await call.press(`*${PIN}#`)
  expect(accepted).toContain('The PIN was right')
  expect(accepted).toContain('Delete the note “Diary”: this waits. You can press 1')
  const done = await call.press('1')
  expect(done).toContain('it was done')
  await call.pressInVain('111')
  await call.hangUp()

  expect(await leftOf(house)).toEqual({ ...UNTOUCHED, diary: null })
  const all = await house.events()
  expect(ofType(all, 'call.offered')).toMatchObject([{ payload: { attestation: 'full', party: 'owner' } }])
  expect(ofType(all, 'note.deleted')).toHaveLength(1)
  const [confirmed] = ofType(all, 'proposal.confirmed')
  expect(confirmed).toMatchObject({ channel: 'voice', payload: { by: 'keypad' }, spanId: call.spanOf(all) })
  expect(ofType(all, 'proposal.made')).toMatchObject([{ payload: { class: 'guarded' } }])
  expect(typesOf(all, 'call.pin')).toEqual(['call.pin.accepted'])

  const answers = await Promise.all(
    ['/api/config', '/api/timeline?limit=5000', '/api/logs?limit=2000', '/api/proposals'].map((path) =>
      client.get(path),
    ),
  )
  for (const answer of answers) expect(answer.status).toBe(200)
  const roles = house.realtime.received.flatMap(({ item }) => (item as { role?: string })?.role ?? [])
  expect([...new Set(roles)].filter((role) => role !== 'user' && role !== 'assistant')).toEqual([])
  const seen = {
    answers: answers.map(({ text }) => text).join(),
    log: house.service.written.join(''),
    calls: JSON.stringify(house.realtime.received),
    requests: JSON.stringify(house.text.requests()),
  }
  for (const [where, content] of Object.entries(seen)) {
    expect([where, content.includes(PIN)]).toEqual([where, false])
    expect([where, content.length > 0]).toEqual([where, true])
  }
  await house.service.stop()
  for (const name of readdirSync(house.service.directory).filter((each) => each.includes('sqlite')))
    expect([name, readFileSync(join(house.service.directory, name)).includes(PIN)]).toEqual([name, false])
})

test('a key does nothing without the PIN, for a changed note, for a class above the right, or for a guest', {
  tags: ['long'],
}, async () => {
  const house = await startCalls()
  const { client } = house.service
  const call = await house.call('CA1', { verdict: '' })
  await call.order(...Object.keys(DEEDS))
  await call.pressInVain('1')
  expect(await call.press('111111#')).toContain('The PIN was wrong')
  await call.pressInVain('1')
  expect(await leftOf(house)).toEqual(UNTOUCHED)
  expect(await proposedTools(house)).toEqual(Object.keys(DEEDS).sort())
  await call.press(`*${PIN}#`)
  // The newest is a reminder. 2 keeps it, and a second press is too soon to reach the next one.
  const declined = await call.press('22')
  expect(declined).toContain('declined it')
  expect(declined).toContain('Change the note “Plans”: this waits')
  const { notes } = (await client.get('/api/notes')).json
  const { id } = notes.find(({ title }: { title: string }) => title === 'Plans')
  await client.send('PUT', `/api/notes/${id}`, JSON.stringify({ content: 'Go sailing soon' }), {
    headers: { 'content-type': 'application/json' },
  })
  expect(await call.press('1')).toContain('has changed since you were asked')
  expect(await call.press('2')).not.toContain('this waits')
  // To forget and to run a task are above the right, so no key confirms them, nor what was asked before them.
  await call.pressInVain('1')
  expect(await proposedTools(house)).toEqual(['cancel_task', 'change_timer', 'dispatch_task', 'forget'])
  await call.hangUp()
  expect(await leftOf(house)).toEqual({ ...UNTOUCHED, plans: 'Go sailing soon' })

  const guest = await house.call('CA2', { from: GUEST })
  await guest.pressInVain(`${PIN}#1`)
  await guest.hangUp()
  expect(typesOf(await house.events(), 'call.pin')).toEqual(['call.pin.refused', 'call.pin.accepted'])
})

test('wrong PINs close the entry for the call, and ten for a day, through a restart', {
  tags: ['long'],
}, async () => {
  let aheadMs = 0
  const options = { directory: testDirectory(), nowMs: () => Date.now() + aheadMs }
  const first = await startCalls(options)
  for (const callSid of ['CA1', 'CA2', 'CA3']) {
    const call = await first.call(callSid)
    await call.press('111111#')
    await call.press(`${PIN}5#`)
    expect(await call.press(`${PIN.slice(0, -1)}#`)).toContain('cannot be entered any more')
    await call.press(`${PIN}#`)
    await call.pressInVain(`${PIN}#${PIN}#`)
    await call.hangUp()
  }
  expect(typesOf(await first.events(), 'call.pin')).toEqual(Array(9).fill('call.pin.refused'))
  await first.service.stop()

  const second = await startWithPhone({ ...options, environment: { PHONE_PIN: PIN } })
  const dial = async (callSid: string) => {
    const { caller } = await second.dial(callSid, OWNER)
    await second.eventsUntil('the greeting', (all) =>
      ofType(all, 'call.reply.spoken').some(({ payload }) => payload.callSid === callSid),
    )
    return caller
  }
  const pins = (count: number) =>
    second.eventsUntil(`${count} PINs`, (all) => typesOf(all, 'call.pin').length >= count)
  let caller = await dial('CA4')
  caller.press('0#')
  await pins(10)
  caller.press(`${PIN}#`)
  caller.hangUp()
  caller = await dial('CA5')
  caller.press(`${PIN}#`)
  await caller.wait(4_000)
  expect(typesOf(await pins(10), 'call.pin')).toEqual(Array(10).fill('call.pin.refused'))
  caller.hangUp()
  aheadMs = DAY_MS + 1_000
  caller = await dial('CA6')
  caller.press(`${PIN}#`)
  expect(typesOf(await pins(11), 'call.pin').at(-1)).toBe('call.pin.accepted')
})

test('rights bound texts and calls, and everything with the PIN includes a task', async () => {
  const house = await startCalls({
    environment: {
      RIGHTS_TEXTS: 'read',
      RIGHTS_CALLS_UNATTESTED: 'read',
      RIGHTS_CALLS_PIN: 'everything',
    },
  })
  house.text.reply(
    { toolCalls: [{ name: 'create_note', arguments: TOOLS.create_note }] },
    { text: 'I may only read by text.' },
  )
  await text(house, 'SM1', OWNER, 'Note: ring back.')
  const byText = (all: readonly TimelineEvent[]) =>
    ofType(all, 'tool.returned').filter(({ channel }) => channel === 'sms')
  await house.eventsUntil('the answer', (all) => byText(all).length > 0)
  const unattested = await house.call('CA1', { verdict: 'TN-Validation-Passed-B' })
  const reasons = await unattested.order('create_note', 'delete_note', 'list_notes')
  await unattested.hangUp()
  expect(reasons.map(({ payload }) => payload.reason ?? payload.outcome)).toEqual([
    'not_allowed',
    'not_allowed',
    'ok',
  ])
  const all = await house.events()
  expect(byText(all)).toMatchObject([{ payload: { outcome: 'refused', reason: 'not_allowed' } }])
  expect(ofType(all, 'note.created')).toHaveLength(2)
  expect(await proposedTools(house)).toEqual([])

  const attested = await house.call('CA2')
  expect(await attested.order('create_note')).toMatchObject([{ payload: { outcome: 'ok' } }])
  await attested.press(`${PIN}#`)
  await attested.order('dispatch_task')
  await attested.tells('Have the coding assistant do “Backup”: this waits')
  expect(await attested.press('1')).toContain('it was done')
  await attested.hangUp()
  expect(await leftOf(house)).toEqual({ ...UNTOUCHED, tasks: 1 })
  // The end of the task wakes a turn, which must not take the reply.
  await house.eventsUntil('the turn', (all) => ofType(all, 'activation.completed').length > 0)
  // The browser is not bound by any of it.
  await ask(house, 'Take a note.', { name: 'create_note', arguments: { title: 'Chat', content: 'Here' } })
  expect(ofType(await house.events(), 'note.created').at(-1)).toMatchObject({ channel: 'chat' })
})
