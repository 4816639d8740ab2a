import { expect, test } from 'vitest'
import * as z from 'zod'
import { createTurnQueries } from '../../projections/turns.ts'
import type { TextModel } from '../../src/model/port.ts'
import { defineTool } from '../../src/model/tool.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { nothing, turnRunner } from './turn-runner.ts'

const AT = { conversationId: 'c', spanId: 's', turnId: 't', channel: 'chat' } as const
const SECRET = 'The locker opens with heliotrope.'

/** Runs a turn whose input holds an old secret and an attached signal. */
async function runTurn({ forgets = false, stops = false } = {}) {
  const { append, erase, ledger, views } = await openTestStorage(testDirectory())
  const said = { type: 'chat.message.received', actor: 'owner', facts: {} } as const
  await append([
    { ...said, ...AT, turnId: 'before', body: { text: SECRET } },
    { ...said, ...AT, body: { text: 'Well?' } },
  ])
  const turns = createTurnQueries(views)
  const turn = turns.byId('t')
  if (!turn) throw new Error('turn not found')
  const stop = new AbortController()
  let rounds = 0
  const text: TextModel = {
    id: { provider: 'test', model: 'test' },
    asSent: (instructions) => instructions,
    async *respond() {
      rounds += 1
      if (stops) {
        yield { type: 'text.delta', text: 'The locker' }
        stop.abort('stopped')
        throw new Error('cut off')
      }
      const calls = forgets && rounds === 1
      yield {
        type: 'completed',
        text: calls ? '' : SECRET,
        toolCalls: calls ? [{ callId: 'f', name: 'forget', arguments: '{}' }] : [],
        usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
        responseId: null,
        blob: null,
      }
    },
  }
  const forget = defineTool({
    name: 'forget',
    description: 'Forgets it.',
    parameters: z.object({}),
    class: 'free',
    idempotent: true,
    readOnly: false,
    async run() {
      await erase([1], 'owner')
      return { ok: true, data: {} }
    },
  })
  await turnRunner(text, {
    append,
    ledger,
    turnEventSeqs: turns.eventSeqs,
    tools: [forget],
    opening: { adaptationIds: [], signalIds: ['rides'] },
    gather: async () => ({
      ...nothing,
      input: [{ type: 'inner', label: 'memories that may matter', text: SECRET }],
      seenSeqs: [1],
    }),
  })(turn, stop.signal)
  const events = ledger.readAfter(2, 100)
  return {
    reply: events.find((event) => event.type === 'chat.reply.sent'),
    dismissed: events.filter((event) => event.type === 'signal.dismissed'),
    status: turns.byId('t')?.status,
  }
}

test('derives a reply from the recalled words that it repeats', async () => {
  const { reply } = await runTurn()
  expect(reply?.body?.text).toBe(SECRET)
  expect(reply?.derivedFrom).toEqual([1, 2])
})

test('erases on arrival a reply that repeats words erased during its turn', async () => {
  const { reply } = await runTurn({ forgets: true })
  expect(reply).toMatchObject({ body: null, erased: true })
})

test.each([
  ['completes', {}, 'completed'],
  ['the owner stops', { stops: true }, 'stopped'],
])('dismisses a signal attached to a turn that %s', async (_how, options, status) => {
  const turn = await runTurn(options)
  expect(turn.status).toBe(status)
  expect(turn.dismissed).toMatchObject([{ facts: { signalIds: ['rides'], reason: 'attached' } }])
})
