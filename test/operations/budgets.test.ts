import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createBudgets } from '../../src/operations/budgets.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const guest = '+14155550199'

/** Facts that spend one of each budget. */
const spending = (id: string): NewEvent[] => [
  {
    type: 'sms.sent',
    actor: 'delegate',
    channel: 'sms',
    facts: { messageSid: `SM${id}`, deliveryId: id, party: 'guest', segments: 1 },
    body: { to: guest, text: 'Yes.' },
  },
  {
    type: 'sms.received',
    actor: 'guest',
    channel: 'sms',
    turnId: `t${id}`,
    facts: { messageSid: `IN${id}`, party: 'guest', segments: 1, mediaTypes: [], replyBy: 'rest' },
    body: { from: guest, to: '+14155550100', text: 'Hello' },
  },
  {
    type: 'call.offered',
    actor: 'guest',
    channel: 'voice',
    facts: { callSid: `CA${id}`, party: 'guest' },
    body: { from: guest },
  },
  {
    type: 'memory.extraction.completed',
    actor: 'service',
    channel: 'inner',
    facts: {
      fromSeq: 1,
      toSeq: 1,
      utteranceSeqs: [1],
      method: 'model',
      candidates: 0,
      accepted: 0,
      usage: { inputTokens: 60, outputTokens: 40, cachedTokens: 0 },
    },
  },
]

async function openBudgets() {
  const startMs = Date.parse('2026-11-20T12:00:30Z')
  let nowMs = startMs
  const clock = { nowMs: () => nowMs }
  const storage = await openTestStorage(testDirectory(), clock)
  const limits = { tokens: 100, texts: 1, calls: 1 }
  const budgets = createBudgets({ storage, limits, guestTotal: () => 2, ...clock })
  const areSpent = () => [
    budgets.tokensAreSpent(),
    budgets.textsAreSpent(),
    budgets.callsAreSpent(),
    budgets.guestIsSpent('+14155550177'),
  ]
  const at = (ms: number) => {
    nowMs = startMs + ms
  }
  const ignore = (messageSid: string) =>
    storage.append([
      {
        type: 'sms.ignored',
        actor: 'guest',
        channel: 'sms',
        facts: { messageSid, party: 'guest', reason: 'budget' },
        body: { from: guest, text: 'Hello?' },
      },
    ])
  return { append: storage.append, erase: storage.erase, at, areSpent, ignore }
}

const SPENT = [true, true, true, true]
const FREE = [false, false, false, false]

test('counts spending for a day, even if the clock is set back', async () => {
  const { append, at, areSpent, ignore } = await openBudgets()
  expect(areSpent()).toEqual(FREE)
  await append(spending('1'))
  expect(areSpent()).toEqual(SPENT)
  at(-HOUR_MS)
  expect(areSpent()).toEqual(SPENT)
  await ignore('SM2')
  at(-5 * YEAR_MS)
  await ignore('SM3')
  expect(areSpent()).toEqual(SPENT)
  at(23 * HOUR_MS)
  expect(areSpent()).toEqual(SPENT)
  at(24 * HOUR_MS + 60_000)
  expect(areSpent()).toEqual(FREE)
})

test('counts spending from a clock ten years ahead for a day after the correction', async () => {
  const { append, at, areSpent, ignore } = await openBudgets()
  await ignore('SM1')
  at(10 * YEAR_MS)
  await append(spending('1'))
  expect(areSpent()).toEqual(SPENT)
  at(HOUR_MS)
  expect(areSpent()).toEqual(SPENT)
  await ignore('SM2')
  at(24 * HOUR_MS)
  expect(areSpent()).toEqual(SPENT)
  at(25 * HOUR_MS + 60_000)
  expect(areSpent()).toEqual(FREE)
  await append(spending('2'))
  expect(areSpent()).toEqual(SPENT)
})

test('counts spending that is erased later, or on arrival', async () => {
  const { append, erase, at, areSpent } = await openBudgets()
  const appended = await append(spending('1'))
  const seqs = appended.status === 'appended' ? appended.events.map(({ seq }) => seq) : []
  await erase(seqs, 'owner')
  expect(areSpent()).toEqual(SPENT)
  at(24 * HOUR_MS + 60_000)
  expect(areSpent()).toEqual(FREE)
  await append(spending('2').map((fact) => ({ ...fact, derivedFrom: seqs.slice(0, 1) })))
  expect(areSpent()).toEqual(SPENT)
})
