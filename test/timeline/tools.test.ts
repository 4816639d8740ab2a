import { expect, test } from 'vitest'
import { createMemoryQueries } from '../../projections/memory-queries.ts'
import { searchTimeline } from '../../projections/search.ts'
import type { Tool } from '../../src/model/tool.ts'
import { timelineTools } from '../../src/timeline/tools.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage, type TestStorage } from '../support/storage.ts'
import { said } from '../support/writer.ts'

const BERLIN = 'Europe/Berlin'
const context = {
  turnId: 'turn',
  callId: 'call',
  conversationId: 'conversation',
  spanId: 'span',
  channel: 'chat' as const,
  messageSeq: null,
  key: 'key',
  timezone: BERLIN,
  nowMs: Date.UTC(2030, 5, 1),
  signal: new AbortController().signal,
}

/** Records these messages at their times and returns the tool that searches them. */
async function toolOver(
  messages: readonly { at: string; text: string; channel: 'chat' | 'sms' }[],
  forget?: (storage: TestStorage) => Promise<unknown>,
) {
  let nowMs = 0
  const storage = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  for (const { at, text, channel } of messages) {
    nowMs = Date.parse(at)
    await storage.append([said(text, { channel })])
  }
  await forget?.(storage)
  await storage.catchUpLagging()
  const tools = timelineTools({
    ledger: storage.ledger,
    search: async (search) => searchTimeline(storage.views, search),
    repeatsBarred: createMemoryQueries(storage.views).repeatsBarred,
    isReplaced: () => false,
  })
  const tool: Tool | undefined = tools.find(({ name }) => name === 'search_timeline')
  if (!tool?.readOnly) throw new Error('there is no read-only search')
  return async (args: Record<string, unknown>): Promise<string[]> => {
    const parsed = tool.parameters.parse({ query: 'tea', channel: null, from: null, to: null, ...args })
    const result = await tool.run(parsed, context)
    if (!result.ok) throw new Error(result.message)
    const { hits } = result.data as { hits: readonly { text: string }[] }
    return hits.map(({ text }) => text)
  }
}

test('searches a channel and an inclusive range of the owner’s days', async () => {
  const search = await toolOver([
    { at: '2030-03-30T22:59:59.999Z', text: 'tea on Saturday', channel: 'chat' },
    { at: '2030-03-30T23:00:00.000Z', text: 'tea on Sunday', channel: 'sms' },
    // Daylight saving time begins, so Sunday ends an hour earlier in UTC.
    { at: '2030-03-31T21:59:59.999Z', text: 'tea late on Sunday', channel: 'chat' },
    { at: '2030-03-31T22:00:00.000Z', text: 'tea on Monday', channel: 'sms' },
  ])
  expect(await search({})).toEqual([
    'tea on Monday',
    'tea late on Sunday',
    'tea on Sunday',
    'tea on Saturday',
  ])
  expect(await search({ channel: 'sms' })).toEqual(['tea on Monday', 'tea on Sunday'])
  expect(await search({ from: '2030-03-31', to: '2030-03-31' })).toEqual([
    'tea late on Sunday',
    'tea on Sunday',
  ])
  expect(await search({ from: '2030-04-01' })).toEqual(['tea on Monday'])
  expect(await search({ to: '2030-03-30' })).toEqual(['tea on Saturday'])
  expect(await search({ channel: 'chat', from: '2030-03-31' })).toEqual(['tea late on Sunday'])
  expect(await search({ from: '2030-04-02', to: '2030-03-01' })).toEqual([])
})

test('rejects an invalid day or channel', async () => {
  const search = await toolOver([])
  await expect(search({ from: 'last week' })).rejects.toThrow()
  await expect(search({ to: '2030-02-30' })).rejects.toThrow()
  await expect(search({ channel: 'fax' })).rejects.toThrow()
})

test('returns the messages of a range without a query, the latest first', async () => {
  const search = await toolOver([
    { at: '2030-03-30T10:00:00.000Z', text: 'on Saturday', channel: 'chat' },
    { at: '2030-03-31T10:00:00.000Z', text: 'early on Sunday', channel: 'chat' },
    { at: '2030-03-31T11:00:00.000Z', text: `late on Sunday ${'x'.repeat(400)}`, channel: 'sms' },
    { at: '2030-04-01T10:00:00.000Z', text: 'on Monday', channel: 'sms' },
  ])
  const sunday = { query: null, from: '2030-03-31', to: '2030-03-31' }
  expect(await search(sunday)).toEqual([`late on Sunday ${'x'.repeat(285)}…`, 'early on Sunday'])
  expect(await search({ ...sunday, channel: 'chat' })).toEqual(['early on Sunday'])
  expect(await search({ query: null, from: '2030-04-01' })).toEqual(['on Monday'])
  expect(await search({ query: null, from: '2030-04-02' })).toEqual([])
  expect(await search({ query: null })).toHaveLength(4)
  expect(await search({ query: '?!', from: '2030-03-31' })).toEqual([])
})

test('does not find what the owner asked to forget, or a text that repeats it', async () => {
  const at = '2030-03-30T12:00:00.000Z'
  const messages = [
    { at, text: 'the tea is in the tin', channel: 'sms' as const },
    { at, text: 'tea at five', channel: 'sms' as const },
  ]
  const search = await toolOver(messages, async ({ append, ledger }) => {
    const [first] = ledger.readAfter(0, 100).filter(({ type }) => type === 'chat.message.received')
    const barred = first?.seq ?? 0
    const asked = await append([
      {
        type: 'delivery.requested',
        actor: 'delegate',
        channel: 'sms',
        derivedFrom: [barred],
        facts: { deliveryId: 'd', channel: 'sms', taskId: null, maxAttempts: 1 },
        body: { target: '+1', text: 'noted: the tea is in the tin' },
      },
    ])
    await append([
      {
        type: 'sms.sent',
        actor: 'delegate',
        channel: 'sms',
        derivedFrom: asked.status === 'appended' ? asked.events.map(({ seq }) => seq) : [],
        facts: { messageSid: 'SM1', party: 'owner', segments: 1 },
        body: { to: '+1', text: 'noted: the tea is in the tin' },
      },
      { type: 'memory.sources.barred', actor: 'owner', facts: { sourceSeqs: [barred], by: 'owner' } },
    ])
  })
  expect(await search({})).toEqual(['tea at five'])
})
