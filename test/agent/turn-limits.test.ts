import { expect, test } from 'vitest'
import * as z from 'zod'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import type { TextModel } from '../../src/model/port.ts'
import { defineTool } from '../../src/model/tool.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { turnRunner } from './turn-runner.ts'

const MODEL = { provider: 'p', model: 'm' }
const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
const AT = { conversationId: 'c', spanId: 's', turnId: 't', channel: 'chat' } as const
const forever = new Promise<never>(() => undefined)

/** Runs the turn of one message; `respond` is the model. */
async function run(respond: TextModel['respond'], { isDamaged = false } = {}) {
  const { append, views, ledger } = await openTestStorage(testDirectory())
  await append([
    { type: 'conversation.started', actor: 'service', conversationId: 'c', facts: {} },
    { type: 'chat.message.received', actor: 'owner', ...AT, facts: {}, body: { text: 'Do it.' } },
  ])
  const turns = createTurnQueries(views)
  const turn = turns.byId('t')
  if (!turn) throw new Error('turn not found')
  const hang = defineTool({
    name: 'hang',
    description: 'Never returns, and never listens.',
    parameters: z.object({}),
    class: 'free',
    idempotent: true,
    readOnly: true,
    run: () => forever,
  })
  const text: TextModel = { id: MODEL, asSent: (instructions) => instructions, respond }
  await turnRunner(text, {
    append,
    ledger: isDamaged
      ? {
          ...ledger,
          readSeqs: () => {
            throw new LedgerDamaged('event 2 is damaged', { seq: 2 })
          },
        }
      : ledger,
    turnEventSeqs: turns.eventSeqs,
    tools: [hang],
    nowMs: Date.now,
    limits: { deadlineMs: 100, stopMs: 50 },
  })(turn, new AbortController().signal)
  return turns.byId('t')
}

test('fails a turn whose model exceeds the deadline', async () => {
  const turn = await run(async function* (_request, signal) {
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    yield { type: 'text.delta', text: 'never' }
  })
  expect(turn).toMatchObject({ status: 'failed', kind: 'timeout' })
})

test('fails a turn whose tool hangs and ignores its signal', async () => {
  const turn = await run(async function* () {
    const toolCalls = [{ callId: 'c1', name: 'hang', arguments: '{}' }]
    yield { type: 'completed', text: '', toolCalls, usage: USAGE, responseId: null, blob: null }
  })
  expect(turn).toMatchObject({ status: 'failed', kind: 'timeout' })
})

test('fails a turn that cannot start, so that it is not retried forever', async () => {
  const turn = await run(
    async function* () {
      yield { type: 'text.delta', text: 'never' }
    },
    { isDamaged: true },
  )
  expect(turn).toMatchObject({ status: 'failed', kind: 'internal' })
})
