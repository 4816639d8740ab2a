import { expect, test } from 'vitest'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append } from '../../ledger/event.ts'
import { TRIAL_PREFIX } from '../doubles/telephony/telephony-double.ts'
import { NUMBER, OWNER } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import { createTestOutbox } from '../support/outbox.ts'
import { openTestStorage } from '../support/storage.ts'
import { type OutboxOptions, openOutbox, TEXT } from './outbox-harness.ts'

test('does not mistake a repeated text that the provider never got for the first one', async () => {
  const { double, outbox, ask, ended, of } = await openOutbox()
  outbox.start()
  await ask('first')
  expect(await ended('first')).toBe('delivery.succeeded')
  double.fail({ type: 'cut' })
  await ask('second')
  expect(await ended('second')).toBe('delivery.unknown')
  expect(of('second', 'sms.sent')).toEqual([])
  expect(double.messages).toHaveLength(1)
})

test('sends a text without its status callback if the provider cannot reach that', async () => {
  const { double, outbox, ask, ended, of } = await openOutbox({ publicUrl: 'http://localhost:8081' })
  outbox.start()
  await ask('d')
  expect(await ended('d')).toBe('delivery.succeeded')
  expect(double.messages).toMatchObject([{ body: TEXT, status_callback: null }])
  expect(of('d', 'delivery.attempted')).toHaveLength(1)
})

test('looks up a text that was sent without its status callback and got no response', async () => {
  const { double, outbox, ask, ended } = await openOutbox({ publicUrl: 'http://localhost:8081' })
  double.fail({ type: 'accept_then_cut' })
  outbox.start()
  await ask('d')
  expect(await ended('d')).toBe('delivery.succeeded')
  expect(double.messages).toHaveLength(1)
})

test.each(['accept_then_cut', 'accept_then_fail'] as const)(
  'finds the text of a trial account in the list and sends one message (%s)',
  async (type) => {
    const { double, outbox, ask, ended } = await openOutbox({ isTrial: true })
    double.fail({ type })
    outbox.start()
    await ask('d')
    expect(await ended('d')).toBe('delivery.succeeded')
    expect(double.messages).toMatchObject([{ body: `${TRIAL_PREFIX}${TEXT}` }])
  },
)

test.each([
  ['other words', { body: 'The ferry leaves at ten.' }],
  ['words of long before', { date_created: new Date(Date.now() - 600_000).toUTCString() }],
  ['words to somebody else', { to: '+14155550177' }],
])('does not mistake a text that a crash cut off for %s', async (_what, more) => {
  const { double, outbox, ask, attempt, ended } = await openOutbox()
  double.take({ from: NUMBER, to: OWNER, body: TEXT, ...more })
  await ask('d')
  await attempt('d')
  outbox.start()
  expect(await ended('d')).toBe('delivery.unknown')
  expect(double.requests.filter(({ method }) => method === 'POST')).toEqual([])
})

test('ends a text that a crash cut off as unknown when no account can look it up', async () => {
  const { outbox, ask, attempt, ended } = await openOutbox({ isConfigured: false })
  await ask('d')
  await attempt('d')
  outbox.start()
  expect(await ended('d')).toBe('delivery.unknown')
})

test('hands a reply to its own turn once, and then does not send it', async () => {
  const { double, outbox, ask, ended, of } = await openOutbox()
  const taken = Promise.all([outbox.claimReply('t1', 60_000), outbox.claimReply('t3', 50)])
  outbox.start()
  await ask('first', { turnId: 't1', text: 'For the first.' })
  await ask('second', { turnId: 't2', text: 'For the second.' })
  expect(await taken).toEqual(['For the first.', null])
  expect(await ended('first')).toBe('delivery.succeeded')
  expect(await ended('second')).toBe('delivery.succeeded')
  expect(of('first', 'sms.sent')).toMatchObject([{ facts: { messageSid: null } }])
  expect(double.messages.map(({ body }) => body)).toEqual(['For the second.'])
})

test('fails a reply that nobody claims in time if there is no account', async () => {
  const { outbox, ask, ended, all } = await openOutbox({ isConfigured: false })
  expect(await outbox.claimReply('t', 1)).toBeNull()
  outbox.start()
  await ask('d', { turnId: 't' })
  expect(await ended('d')).toBe('delivery.failed')
  expect(all('sms.failed')).toMatchObject([{ facts: { kind: 'not_configured' } }])
})

test.each<[string, OutboxOptions]>([
  ['everything is held', { isHeld: true }],
  ['the texts of the day are spent', { isSpent: () => true }],
])('hands out no reply while %s', async (_when, options) => {
  const { outbox, ask, of } = await openOutbox(options)
  outbox.start()
  const claimed = outbox.claimReply('t', 100)
  await ask('d', { turnId: 't' })
  expect(await claimed).toBeNull()
  expect(of('d', 'delivery.attempted')).toEqual([])
})

test('never takes the message of an equal text for one that did not arrive', async () => {
  const { double, outbox, ask, attempt, ended, of } = await openOutbox()
  const gate = Promise.withResolvers<void>()
  double.fail({ type: 'accept_then_wait', until: gate.promise })
  await ask('lost')
  await attempt('lost')
  await ask('sent')
  outbox.start()
  await expect.poll(() => double.messages).toHaveLength(1)
  // Longer than all look-ups of the lost text.
  setTimeout(gate.resolve, 300)
  expect(await ended('sent')).toBe('delivery.succeeded')
  expect(await ended('lost')).toBe('delivery.unknown')
  expect(of('sent', 'sms.sent')).toMatchObject([{ facts: { messageSid: double.messages[0]?.sid } }])
})

test('begins no queued text once it closes', async () => {
  const { double, outbox, ask, of, ended } = await openOutbox()
  const gate = Promise.withResolvers<void>()
  double.fail({ type: 'accept_then_wait', until: gate.promise })
  outbox.start()
  await ask('first')
  await ask('second', { target: '+14155550177' })
  await expect.poll(() => double.messages).toHaveLength(1)
  const closed = outbox.close(5_000)
  gate.resolve()
  await closed
  expect(await ended('first')).toBe('delivery.succeeded')
  expect(of('second', 'delivery.attempted')).toEqual([])
})

test('answers the webhook although the ledger refuses the facts of its reply', async () => {
  const storage = await openTestStorage(testDirectory())
  const append: Append = async (facts) => {
    if (facts.some(({ type }) => type === 'sms.sent')) throw new LedgerUnavailable('the disk is full')
    return storage.append(facts)
  }
  const outbox = createTestOutbox({ ...storage, append }, { onFault: () => undefined })
  outbox.start()
  const answer = outbox.claimReply('turn', 60_000)
  const facts = { deliveryId: 'd', channel: 'sms', taskId: null, maxAttempts: 1 } as const
  const body = { target: OWNER, text: TEXT }
  await append([
    { type: 'delivery.requested', actor: 'delegate', channel: 'sms', turnId: 'turn', facts, body },
  ])
  expect(await answer).toBeNull()
})
