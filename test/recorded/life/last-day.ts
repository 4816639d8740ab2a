import { newSalt, toDraft } from '../../../ledger/codec.ts'
import type { NewEvent } from '../../../ledger/event.ts'
import { createIds } from '../../../ledger/ids.ts'
import { openLedger } from '../../../ledger/ledger.ts'
import { createReader } from '../../../ledger/reader.ts'
import { ACCOUNT, AUTH_TOKEN, GUEST, NUMBER, OWNER, PUBLIC_URL } from '../../phone/provider.ts'
import { PASSWORD } from '../../support/service.ts'
import { APPENDED } from '../event-types.ts'
import { READING_ENVIRONMENT, type Session } from '../places.ts'
import type { Day, Life } from './life.ts'

const CLIENT_MESSAGE_ID = 'the-last-message'

/** Leaves work in progress: an open conversation, a pending proposal and an erasure that can be undone. */
export async function lastDay(life: Life): Promise<Session> {
  appendOlder(life)
  const morning = await life.begin('2026-11-10T08:00:00.000Z')
  await morning.say(
    `Text ${GUEST} that dinner is at eight.`,
    { toolCalls: [{ name: 'send_sms', arguments: { to: GUEST, text: 'Dinner is at eight.' } }] },
    { text: 'It waits for you.' },
  )
  await morning.post('/api/timers', { title: 'Dinner', at: '2026-11-10T19:00:00.000Z' })
  await morning.end()

  const day = await life.begin('2026-11-10T10:00:00.000Z', {}, READING_ENVIRONMENT)
  await builtin(day)
  await settings(day)
  const note = (await day.post('/api/notes', { title: 'Secret', content: 'It waits to be erased.' })).json
  await day.quiet()
  await day.post('/api/erasures', { kind: 'note', id: note.id })
  // The use of a session is recorded once a minute: now, and therefore not during reading.
  await day.post('/api/chat', { content: 'What time is it?', clientMessageId: CLIENT_MESSAGE_ID })
  await day.quiet()
  await day.stop()
  return {
    cookie: life.cookie() ?? '',
    now: new Date(life.clock.nowMs() + 1_000).toISOString(),
    clientMessageId: CLIENT_MESSAGE_ID,
  }
}

/** Uses the builtin model and rules, without a model service. */
async function builtin(day: Day): Promise<void> {
  for (const content of [
    'Remember that my cat is called Minka.',
    'Remind me to call Ada tomorrow at nine.',
    'Make a note: buy batteries',
    'What is my cat called?',
    'Compose a sonnet about the sea.',
  ])
    await day.post('/api/chat', { content })
  await day.quiet()
  await day.post('/api/session/context/compact')
  await day.post('/api/chat', { content: 'I work as a gardener.' })
  await day.quiet()
}

/** Includes secrets; the data holds the key that seals them. */
async function settings(day: Day): Promise<void> {
  await day.send('PUT', '/api/config', {
    entries: {
      TIMELINE_PAGE_EVENTS: 60,
      PUBLIC_URL,
      OWNER_PHONE_NUMBER: OWNER,
      TELEPHONY_ACCOUNT_SID: ACCOUNT,
      TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
      TELEPHONY_PHONE_NUMBER: NUMBER,
      DELIVERY_WEBHOOK_URL: 'https://hooks.example.com/told',
      DELIVERY_WEBHOOK_SECRET: 'a secret of the webhook',
    },
    password: PASSWORD,
  })
}

/** Appends facts of types that only earlier builds wrote. */
function appendOlder(life: Life): void {
  const newId = createIds(life.clock.nowMs)
  const ledger = openLedger(life.directory, newId)
  try {
    const said = createReader(ledger.db)
      .readAfter(0, 10_000)
      .find(({ type, erased }) => type === 'chat.message.received' && !erased)
    const barred: NewEvent = {
      type: APPENDED[0],
      actor: 'owner',
      channel: 'system',
      facts: { sourceSeqs: [said?.seq ?? 1], by: 'owner' },
    }
    const at = new Date(life.clock.nowMs()).toISOString()
    const [outcome] = ledger.commit([[toDraft(barred, { newId, newSalt, at })]])
    if (outcome?.status !== 'appended') throw new Error('the ledger rejected an older fact')
  } finally {
    ledger.close()
  }
}
