import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { httpFaults } from '../../doubles/model/script.ts'
import { GUEST } from '../../phone/provider.ts'
import { PASSWORD } from '../../support/service.ts'
import type { Day, Life } from './life.ts'

/** Installation, sessions, settings, chat with tools, notes, adaptations, proposals and compaction. */
export async function firstDay(life: Life): Promise<void> {
  const day = await life.begin('2026-11-02T08:00:00.000Z')
  await install(day)
  await chat(life, day)
  await notes(day)
  await adaptations(life, day)
  await proposals(day)
  await context(life, day)
  await day.end()
}

async function install(day: Day): Promise<void> {
  const { client, setupCode } = day
  await client.post('/api/install', { password: PASSWORD, setupCode: 'wrong' })
  await day.post('/api/install', { password: PASSWORD, setupCode, timezone: 'Europe/Berlin' })
  await client.get('/api/notes', { headers: { cookie: 'delegate_session=nobody' } })
  // A second browser signs out; a third session is ended from another one.
  const first = client.cookie()
  for (const ending of ['POST /logout', 'DELETE /api/sessions/']) {
    client.useCookie(undefined)
    await day.post('/login', { password: 'not this one' }, [401])
    await day.post('/login', { password: PASSWORD })
    if (ending === 'POST /logout') await day.post('/logout')
    client.useCookie(first)
  }
  const { sessions } = (await client.get('/api/sessions')).json
  const other = sessions.find(({ current }: { current: boolean }) => !current)
  await day.send('DELETE', `/api/sessions/${other.id}`)
  const change = { currentPassword: PASSWORD, newPassword: 'a short walk by the lake' }
  await day.post('/api/auth/password', change)
  await day.post('/api/auth/password', {
    currentPassword: change.newPassword,
    newPassword: PASSWORD,
  })
  await day.send('PUT', '/api/config', { entries: { SESSION_IDLE_MINUTES: 30, LONG_ANSWER_CHARS: 2000 } })
}

async function chat(life: Life, day: Day): Promise<void> {
  life.model.worth.push(
    {
      quote: 'I live in Porto',
      kind: 'identity',
      slot: 'residence',
      value: 'Porto',
      text: 'The owner lives in Porto',
      singleValued: true,
    },
    {
      quote: 'My sister is called Ada',
      kind: 'relation',
      slot: "sister's name",
      value: 'Ada',
      text: 'The owner’s sister is called Ada',
    },
  )
  await day.say('I live in Porto, and the sea is near.', { text: 'Good to know.', reasoning: 'sealed' })
  await day.say('My sister is called Ada.', { text: ['I will ', 'remember ', 'Ada.'] })
  await day.say(
    'Please remember that my locker is number 417.',
    { toolCalls: [{ name: 'remember', arguments: { text: 'My locker is number 417.' } }], reasoning: 'why' },
    { text: 'Kept.' },
  )
  await day.say(
    'Write me a list for the market: olives, bread.',
    {
      toolCalls: [{ name: 'create_note', arguments: { title: 'Market', content: '- olives\n- bread' } }],
    },
    { text: 'It is in the note “Market”.' },
  )
  await day.say(
    'Remind me of the oven in an hour, and of the bins each Monday at seven.',
    {
      toolCalls: [
        { name: 'set_timer', arguments: timer({ title: 'Look at the oven', in_minutes: 60 }) },
        { name: 'set_timer', arguments: timer({ title: 'Put the bins out', recurrence: '0 7 * * 1' }) },
        { name: 'set_timer', arguments: timer({ title: 'Never', recurrence: 'every day' }) },
      ],
    },
    { text: 'Both are set.' },
  )
  await day.say('What was the ferry called?', { fault: httpFaults.unauthorised() })
  await day.say('Long words, please.', { text: 'A line of a long answer.\n'.repeat(250) })
  await stopped(life, day)
  await day.quiet()
}

const timer = (given: object) => ({
  at: null,
  in_minutes: null,
  recurrence: null,
  missed_policy: null,
  ...given,
})

async function stopped(life: Life, day: Day): Promise<void> {
  const release = Promise.withResolvers<void>()
  const before = life.text.requests('/responses').length
  life.model.turns.push({
    text: ['Once upon ', 'a time'],
    pause: { at: 'response.output_text.done', until: release.promise },
  })
  const answer = day.post('/api/chat', { content: 'Tell me a story.' }, [200, 502])
  await day.until('the turn to run', async () => life.text.requests('/responses').length > before)
  // Compaction is refused during a turn, but the request is a fact.
  await day.post('/api/session/context/compact', {}, [409])
  await new Promise((resolve) => setTimeout(resolve, 150))
  await day.post('/api/chat/stop')
  release.resolve()
  await answer
}

async function notes(day: Day): Promise<void> {
  const note = (await day.post('/api/notes', { title: 'Garden', content: 'Prune the **roses**.' })).json
  await day.send('PUT', `/api/notes/${note.id}`, { content: 'Prune the **roses** in February.' })
  await day.send('PUT', `/api/notes/${note.id}`, { title: 'The garden' })
  await day.post(`/api/notes/${note.id}/restore`, { revision: 1 })
  const other = (
    await day.post('/api/notes', { title: 'Old', content: `Words. ${'More words. '.repeat(600)}` })
  ).json
  await day.send('DELETE', `/api/notes/${other.id}`)
  const third = (
    await day.post('/api/notes', { title: 'Trip', content: '# Trip\n\n- [x] tickets\n- [ ] hats' })
  ).json
  await day.send('DELETE', `/api/notes/${third.id}`)
  await day.post(`/api/notes/${third.id}/restore`, { revision: 1 })
}

async function adaptations(life: Life, day: Day): Promise<void> {
  const folder = join(life.directory, 'adaptations')
  mkdirSync(folder)
  writeFileSync(join(folder, 'mornings.md'), '# Mornings\n\nBegin with the weather.\n')
  writeFileSync(join(folder, 'weekends.md'), '# Weekends\n\nNo work at weekends.\n')
  writeFileSync(join(folder, 'evenings.md'), '# Evenings\n\nBe calm.\n')
  writeFileSync(join(folder, 'broken.md'), Buffer.from([0xff, 0xfe, 0x00]))
  await day.post('/api/adaptations.reload')
  rmSync(join(folder, 'evenings.md'))
  await day.post('/api/adaptations.reload')
  await day.post('/api/adaptations/brief', { title: 'Be brief', content: 'Three sentences at most.' })
  await day.post('/api/adaptations/brief', { enabled: true, channels: ['chat', 'sms'] })
  await day.post('/api/adaptations/gone', { title: 'Gone', content: 'To be taken away.' })
  await day.send('DELETE', '/api/adaptations/gone')
}

async function proposals(day: Day): Promise<void> {
  const texting = { toolCalls: [{ name: 'send_sms', arguments: { to: GUEST, text: 'I am late.' } }] }
  const open = async () => (await day.client.get('/api/proposals')).json.proposals
  await day.say(`Text ${GUEST} that I am late.`, texting, { text: 'It waits for you.' })
  await day.post(`/api/proposals/${(await open())[0].id}/confirm`)
  await day.seen('sms.sent')
  await day.say(`Text ${GUEST} again that I am late.`, texting, { text: 'It waits for you.' })
  await day.post(`/api/proposals/${(await open())[0].id}/decline`)
  // A note carries no authority, so a deed that follows from reading it needs confirmation.
  await day.say(
    'Read me the note Market.',
    { toolCalls: [{ name: 'read_note', arguments: { query: 'Market' } }] },
    { toolCalls: [{ name: 'delete_note', arguments: { query: 'Market' } }] },
    { text: 'I was asked again, and want nothing.' },
    { text: 'Olives and bread. Deleting it waits for you.' },
  )
  const [{ id }] = await open()
  await day.post(`/api/proposals/${id}/confirm`)
  await day.seen('proposal.completed')
}

/** Manual and automatic compaction, with capsules that succeed and fail. */
async function context(life: Life, day: Day): Promise<void> {
  await day.quiet()
  await day.post('/api/session/context/compact')
  await day.say('Where were we?', { text: 'At the market.' })
  // A compaction without gain is not retried for a while.
  day.clock.pass(3_600_000)
  await day.quiet()
  await day.say('Go on.', { text: 'On it goes.', usage: { inputTokens: 120_000, outputTokens: 50 } })
  await day.quiet()
  life.model.capsules.push({ fault: httpFaults.badRequest('no') })
  await day.post('/api/session/context/compact', {}, [502])
  life.model.capsules.push({ fault: httpFaults.badRequest('no') })
  await day.say('And on.', { text: 'And on.', usage: { inputTokens: 900, outputTokens: 25_000 } })
  await day.quiet()
  await day.say('And further.', { text: 'Further.', usage: { inputTokens: 900, outputTokens: 25_000 } })
  await day.quiet()
}
