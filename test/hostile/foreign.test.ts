import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createIsForeign } from '../../src/agent/turn/foreign.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { openTestStorage } from '../support/storage.ts'

const said = (spoken: boolean): NewEvent => ({
  type: 'chat.message.received',
  actor: 'owner',
  channel: 'chat',
  facts: spoken ? { spoken } : {},
  body: { text: 'I like tea' },
})

const learned = (memoryId: string, sourceSeq: number, derivedFrom: number[]): NewEvent => ({
  type: 'memory.stored',
  actor: 'service',
  channel: 'inner',
  derivedFrom,
  facts: {
    memoryId,
    kind: 'preference',
    sourceSeqs: [sourceSeq],
    supersedes: null,
    linkedTo: null,
    singleValued: false,
    eventTime: null,
    validFrom: '2030-01-01T00:00:00.000Z',
    validUntil: null,
    by: 'extraction',
  },
  body: {
    text: 'I like tea',
    subject: 'owner',
    slot: '',
    value: '',
    quote: 'I like tea',
    canonicalKey: memoryId,
    slotKey: '',
    statementKey: '',
  },
})

test.each([true, false])(
  'traces a memory through 6000 refinements to its first source (spoken: %s)',
  { tags: ['long'] },
  async (spoken) => {
    const { append, ledger } = await openTestStorage(testDirectory())
    await append([said(spoken), said(false)])
    const typed = ledger.head().seq
    // Each memory derives from the one before it, and the first from the first message.
    for (let from = 0; from < 6000; from += 1000)
      await append(
        Array.from({ length: 1000 }, (_, index) =>
          learned(`m${from + index}`, typed, [from + index === 0 ? typed - 1 : typed + from + index, typed]),
        ),
      )
    const [last] = ledger.readSeqs([ledger.head().seq])
    expect(last?.type).toBe('memory.stored')
    expect(last && createIsForeign(ledger)(last)).toBe(spoken)
  },
)

test.each([
  ['what the owner typed', [], false],
  ['a message with pasted words', [[4, 20]], true],
])('a summary is as foreign as %s', async (_what, pasted, expected) => {
  const { client } = await startWholeService()
  await client.post('/api/chat', { content: 'add milk and oats to the shopping list', pasted })
  expect((await client.post('/api/session/context/compact')).status).toBe(200)
  await client.post('/api/chat', { content: 'I bought the milk' })
  const { events } = (await client.get('/api/timeline?limit=500')).json
  const ofType = (type: string) => events.filter((event: { type: string }) => event.type === type)
  const [summary] = ofType('context.compaction.succeeded')
  const foreignSeqs: number[] = ofType('turn.completed').at(-1).payload.foreignSeqs
  expect([foreignSeqs.includes(summary.seq), foreignSeqs.length > 0]).toEqual([expected, expected])
})
