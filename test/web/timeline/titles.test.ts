import { expect, test } from 'vitest'
import { catalogue, type EventType } from '../../../ledger/events/catalogue.ts'
import { classify } from '../../../web/src/timeline/event-kinds.ts'
import { titleOf, titles } from '../../../web/src/timeline/titles.ts'
import { event } from './events.ts'

const ended = (reason: string, durationMs: number) =>
  titleOf(event(1, 'call.ended', { payload: { callSid: 'CA1', reason, durationMs } }))

test('says why a call ended, unless the caller hung up', () => {
  expect(ended('caller_hung_up', 61_000)).toBe('Call ended after 1 min 1 s')
  expect(ended('no_realtime_model', 0)).toBe('Call ended: no model can listen and speak')
  expect(ended('model_lost', 3200)).toBe('Call ended after 3.2 s: the voice model stopped responding')
  expect(ended('a reason of tomorrow', 3200)).toBe('Call ended after 3.2 s')
})

test('says how the number of a call is attested, if that is known', () => {
  const rang = (attestation?: string) =>
    titleOf(event(1, 'call.offered', { payload: { callSid: 'CA1', ...(attestation && { attestation }) } }))
  expect(rang()).toBe('The phone rang')
  expect(rang('full')).toBe('The phone rang: the number is attested in full')
  expect(rang('failed')).toBe('The phone rang: the number failed attestation')
})

test('shows no duration for a call that was never connected', () => {
  expect(ended('not_connected', 0)).toBe('Call ended: it was never connected')
})

test('shows the text of a reminder, or that one is due if the text is not known', () => {
  expect(titleOf(event(1, 'timer.fired', { payload: { text: 'check the oven' } }))).toBe(
    'Reminder: check the oven',
  )
  expect(titleOf(event(1, 'timer.fired'))).toBe('A reminder is due')
  expect(titleOf(event(1, 'timer.fired', { payload: { erased: true } }))).toBe('A reminder is due')
})

test('says who asked for a compaction', () => {
  const asked = (source: string) => titleOf(event(1, 'context.compaction.requested', { payload: { source } }))
  expect(asked('manual')).toBe('Compaction requested (by you)')
  expect(asked('automatic')).toBe('Compaction requested (automatically)')
})

test('counts memories and earlier messages that were held back', () => {
  const payload = { ids: [], turnSeqs: [3], reason: 'duplicate' }
  expect(titleOf(event(1, 'memory.recall.suppressed', { payload }))).toBe('Held back 1 thing: duplicate')
})

test('counts changed settings', () => {
  const titleFor = (keys?: string[]) =>
    titleOf(event(1, 'settings.changed', keys ? { payload: { keys } } : undefined))
  expect(titleFor(['TIMEZONE', 'CHAT_MODEL', 'DAILY_TEXTS'])).toBe('3 settings changed')
  expect(titleFor(['TIMEZONE'])).toBe('1 setting changed')
  expect(titleFor()).toBe('Settings changed')
})

test('has a title for every event that the timeline shows by its title', () => {
  const shown = Object.keys(catalogue).filter((type) => !type.startsWith('import.'))
  const untitled = shown.filter((type) => {
    const { internal } = catalogue[type as EventType]
    const { kind } = classify(event(1, type, { internal }))
    return ['notice', 'internal', 'boundary'].includes(kind) && titles[type] === undefined
  })
  expect(untitled).toEqual([])
})

test('says what happened to the ways to sign in, and counts guesses', () => {
  const title = (type: string, payload: Record<string, unknown>) => titleOf(event(1, type, { payload }))
  expect(title('owner.signed-in', { newDevice: true })).toBe('Signed in on a new device')
  expect(title('owner.signed-in', {})).toBe('Signed in')
  expect(title('owner.factor.added', { kind: 'passkey' })).toBe('Passkey added')
  expect(title('owner.factor.removed', { kind: 'totp', by: 'shell' })).toBe(
    'Authenticator app removed from the shell',
  )
  expect(title('owner.recovery-code.used', { left: 9 })).toBe('A recovery code was used; 9 left')
  expect(title('intrusion.counted', { kind: 'sign_in_refused', count: 1 })).toBe(
    'Someone failed to sign in: 1 wrong password or code',
  )
  expect(title('intrusion.counted', { kind: 'sign_in_throttled', count: 12 })).toBe(
    '12 sign-ins refused after too many failures',
  )
  expect(title('intrusion.counted', { kind: 'foreign_host', count: 3 })).toBe(
    '3 refused attempts: by an address that is not Delegate’s',
  )
})

test('says where erased words may remain, if PostgreSQL has the ledger, too', () => {
  const erased = (postgres?: object) => {
    const kinds = [{ kind: 'message', count: 2 }]
    return titleOf(event(1, 'erasure.completed', { payload: { kinds, ...(postgres && { postgres }) } }))
  }
  expect(erased()).toBe('Erased for good: 2 messages')
  expect(erased({ erased: true, nodes: ['two'] })).toBe(
    "Erased for good: 2 messages. They may remain in PostgreSQL's dead rows until its vacuum; in its log and archives; on two, which has not confirmed it",
  )
  expect(erased({ erased: false, nodes: [] })).toBe(
    'Erased for good: 2 messages. They may remain in PostgreSQL, which has not confirmed it; in its log and archives',
  )
})

test('says how many backups hold erased words, and why a backup failed', () => {
  const erased = (count: number, until: string | null, missing?: number) =>
    titleOf(event(1, 'erasure.completed', { payload: { kinds: [], backups: { count, until, missing } } }))
  expect(erased(1, null)).toMatch(/\. 1 backup still holds the words, until you delete it$/)
  expect(erased(3, null)).toMatch(/\. 3 backups still hold the words, until you delete them$/)
  expect(erased(3, '2027-02-01T02:00:00.000Z')).toMatch(/still hold the words, until .*Feb/)
  const elsewhere =
    'Delegate cannot remove what is missing from the backup directory: 7 backups with the words'
  expect(erased(8, '2027-02-01T02:00:00.000Z', 7)).toMatch(
    new RegExp(`\\. 1 backup still holds the words, until .*Feb.*\\. ${elsewhere}$`),
  )
  expect(erased(7, null, 7)).toBe(`Erased for good: nothing with text. ${elsewhere}`)
  const payload = { step: 'copy', reason: 'BACKUP_COMMAND failed with exit code 3.' }
  expect(titleOf(event(1, 'backup.failed', { payload }))).toBe(
    'The backups were not copied: BACKUP_COMMAND failed with exit code 3.',
  )
})

test('says what a timer is set to, and until when a reminder is snoozed', () => {
  const title = 'Call Ada'
  const snoozes = { timerId: 'a', occurrence: '2026-06-01T09:00:00.000Z' }
  const dueAt = '2026-06-01T10:00:00.000Z'
  expect(titleOf(event(1, 'timer.set', { payload: { title, dueAt } }))).toBe('Reminder set: Call Ada')
  expect(titleOf(event(2, 'timer.changed', { payload: { title, dueAt } }))).toBe('Reminder changed: Call Ada')
  expect(titleOf(event(3, 'timer.set', { payload: { title, dueAt, snoozes } }))).toMatch(
    /^Snoozed until 1 Jun 2026.*: Call Ada$/,
  )
})
