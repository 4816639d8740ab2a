import { expect, onTestFinished, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createTextQueries } from '../../projections/texts.ts'
import { createSmsOutbox } from '../../src/channels/sms/outbox.ts'
import { connectTelephony } from '../../src/channels/telephony/rest.ts'
import { startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import { ACCOUNT, AUTH_TOKEN, NUMBER, OWNER } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import { SHORT_PAUSES } from '../support/service.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

const TEXT = 'The ferry leaves at nine.'

type Options = {
  readonly isConfigured?: boolean
  /** The provider answers, but not what it has. */
  readonly isListDown?: boolean
  readonly isHeld?: boolean
  readonly isSpent?: boolean
}

async function openOutbox({
  isConfigured = true,
  isListDown = false,
  isHeld = false,
  isSpent = false,
}: Options = {}) {
  const double = await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN })
  onTestFinished(() => double.close())
  const { append, ledger, views, onHeadMoved } = await openTestStorage(testDirectory())
  const client = await connectTelephony({
    accountSid: ACCOUNT,
    username: ACCOUNT,
    password: AUTH_TOKEN,
    baseUrl: double.url,
  })
  if (isListDown) Object.assign(client.messages, { list: () => Promise.reject(new Error('it is down')) })
  const outbox = createSmsOutbox({
    append,
    ledger,
    texts: createTextQueries(views),
    onHeadMoved,
    client: async () => (isConfigured ? client : null),
    ownNumber: () => NUMBER,
    statusCallback: () => null,
    partyOf: () => 'owner',
    isHeld: () => isHeld,
    isSpent: () => isSpent,
    pauses: SHORT_PAUSES,
    newId,
    nowMs: Date.now,
    random: Math.random,
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onFault: () => undefined,
  })
  onTestFinished(() => outbox.close(60_000))
  const of = (deliveryId: string, type: string) =>
    ledger
      .readAfter(0, 1000)
      .filter(
        (event) =>
          event.type !== 'unknown' &&
          event.type === type &&
          'deliveryId' in event.facts &&
          event.facts.deliveryId === deliveryId,
      )
  return {
    append,
    double,
    outbox,
    ask: (deliveryId: string, more: Partial<{ target: string; text: string; turnId: string }> = {}) => {
      const { target = OWNER, text = TEXT, turnId } = more
      return append([requested(deliveryId, { target, text }, turnId)])
    },
    /** A crash came after this attempt. */
    attempt: (deliveryId: string) =>
      append([
        {
          type: 'delivery.attempted',
          actor: 'service',
          channel: 'sms',
          key: `delivery:${deliveryId}:attempt:1`,
          facts: { deliveryId, channel: 'sms', attempt: 1 },
        },
      ]),
    of,
    /** How it ended, once it has. */
    async ended(deliveryId: string): Promise<string> {
      const endings = () =>
        ledger
          .readAfter(0, 1000)
          .flatMap((event) =>
            (event.type === 'delivery.succeeded' ||
              event.type === 'delivery.unknown' ||
              (event.type === 'delivery.failed' && event.facts.final)) &&
            event.facts.deliveryId === deliveryId
              ? [event.type]
              : [],
          )
      await expect.poll(endings).toHaveLength(1)
      return endings()[0] ?? ''
    },
  }
}

const requested = (
  deliveryId: string,
  body: { readonly target: string; readonly text: string },
  turnId: string | undefined,
): NewEvent => ({
  type: 'delivery.requested',
  actor: 'delegate',
  channel: 'sms',
  conversationId: 'c',
  turnId,
  facts: { deliveryId, channel: 'sms', taskId: null, maxAttempts: 3 },
  body,
})

test('the same words twice: the second, which the provider never got, is not taken for the first', async () => {
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

test.each([
  ['other words', { body: 'The ferry leaves at ten.' }],
  ['words of long before', { date_created: new Date(Date.now() - 600_000).toUTCString() }],
  ['words to somebody else', { to: '+14155550177' }],
])('a text that a crash cut off is not taken for %s', async (_what, more) => {
  const { double, outbox, ask, attempt, ended } = await openOutbox()
  double.take({ from: NUMBER, to: OWNER, body: TEXT, ...more })
  await ask('d')
  await attempt('d')
  outbox.start()
  expect(await ended('d')).toBe('delivery.unknown')
  expect(double.requests.filter(({ method }) => method === 'POST')).toEqual([])
})

test('a text that a crash cut off is unknown where there is no account to look it up with', async () => {
  const { outbox, ask, attempt, ended } = await openOutbox({ isConfigured: false })
  await ask('d')
  await attempt('d')
  outbox.start()
  expect(await ended('d')).toBe('delivery.unknown')
})

test('a gateway answers with a failure and what the provider has cannot be told: it is unknown, and not sent again', async () => {
  const { double, outbox, ask, ended, of } = await openOutbox({ isListDown: true })
  double.fail({ type: 'refuse_without_code', status: 502 })
  outbox.start()
  await ask('d')
  expect(await ended('d')).toBe('delivery.unknown')
  expect(of('d', 'delivery.attempted')).toHaveLength(1)
  expect(double.messages).toEqual([])
})

test('what fails each time is tried as often as was asked for', async () => {
  const { double, outbox, ask, ended, of } = await openOutbox()
  double.fail(...Array.from({ length: 9 }, () => ({ type: 'refuse', status: 429, code: 20429 }) as const))
  outbox.start()
  await ask('d')
  expect(await ended('d')).toBe('delivery.failed')
  expect(of('d', 'delivery.attempted')).toHaveLength(3)
})

test('a reply is taken out of the outbox once, by its own turn, and then nobody sends it', async () => {
  const { double, outbox, ask, ended, of } = await openOutbox()
  const release = outbox.reserve('t1')
  outbox.reserve('t2')
  outbox.start()
  await ask('first', { turnId: 't1', text: 'For the first.' })
  await ask('second', { turnId: 't2', text: 'For the second.' })
  const taken = await Promise.all([outbox.takeReply('t1'), outbox.takeReply('t1'), outbox.takeReply('t3')])
  expect(taken.filter((each) => each !== null)).toEqual(['For the first.'])
  release()
  expect(await ended('first')).toBe('delivery.succeeded')
  expect(of('first', 'sms.sent')).toHaveLength(1)
  expect(of('second', 'delivery.attempted')).toEqual([])
  expect(double.messages).toEqual([])
  expect(await outbox.takeReply('t2')).toBe('For the second.')
})

test.each<[string, Options]>([
  ['everything is held', { isHeld: true }],
  ['the texts of the day are spent', { isSpent: true }],
])('no reply is taken out of the outbox while %s', async (_when, options) => {
  const { outbox, ask, of } = await openOutbox(options)
  await ask('d', { turnId: 't' })
  expect(await outbox.takeReply('t')).toBeNull()
  expect(of('d', 'delivery.attempted')).toEqual([])
})
