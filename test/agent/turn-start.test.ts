import { expect, test } from 'vitest'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Appended, NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { TurnRow } from '../../projections/turns.ts'
import { createPreviews } from '../../src/agent/conversation/previews.ts'
import type { TextModel } from '../../src/model/port.ts'
import { nothing, turnRunner } from './turn-runner.ts'

const turn: TurnRow = {
  turnId: 'turn-1',
  conversationId: 'conversation-1',
  spanId: 'span-1',
  channel: 'chat',
  party: 'owner',
  trigger: 'message',
  causeSeq: 1,
  status: 'waiting',
  kind: null,
  receivedAt: '2030-01-01T00:00:00.000Z',
  startedAt: null,
  endedAt: null,
  startedSeq: null,
  endedSeq: null,
  replySeq: null,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  contextTokens: 0,
  replacedBy: null,
}

/** Starts a turn whose model has already answered; the test settles each append. */
function startTurn({ gathered = Promise.resolve(nothing) } = {}) {
  const appends: { events: readonly NewEvent[]; types: string[]; settle: PromiseWithResolvers<Appended> }[] =
    []
  let isAsked = false
  const text: TextModel = {
    id: { provider: 'test', model: 'test' },
    asSent: (instructions) => instructions,
    async *respond() {
      isAsked = true
      yield { type: 'text.delta', text: 'Certainly.' }
      yield {
        type: 'completed',
        text: 'Certainly.',
        toolCalls: [],
        usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
        responseId: null,
        blob: null,
      }
    },
  }
  const previews = createPreviews()
  const shown: string[] = []
  previews.subscribe((event) => shown.push(event.type))
  const run = turnRunner(text, {
    append(events) {
      const settle = Promise.withResolvers<Appended>()
      appends.push({ events, types: events.map(({ type }) => type), settle })
      return settle.promise
    },
    ledger: { readSeqs: () => [] } as Partial<LedgerReader> as LedgerReader,
    turnEventSeqs: () => [],
    previews,
    opening: { adaptationIds: ['a-1'], signalIds: [] },
    gather: () => gathered,
    shorten: async () => false,
  })
  const ended = run(turn, new AbortController().signal)
  ended.catch(() => undefined)
  return { appends, isAsked: () => isAsked, shown, ended }
}

const surfaced: NewEvent = {
  type: 'memory.recalled',
  actor: 'service',
  channel: 'inner',
  conversationId: 'conversation-1',
  spanId: 'span-1',
  turnId: 'turn-1',
  facts: { ids: ['m-1'], turnSeqs: [], late: false, injectedTokens: 4, durationMs: 1 },
}

const letLoopRun = () => new Promise((resolve) => setTimeout(resolve, 20))

test('records the start and what was recalled before it asks the model', async () => {
  const { appends, isAsked, shown, ended } = startTurn({
    gathered: Promise.resolve({ ...nothing, facts: [surfaced] }),
  })
  await letLoopRun()
  expect(appends.map(({ types }) => types)).toEqual([['turn.started']])
  expect(appends[0]?.events).toMatchObject([{ facts: { adaptationIds: ['a-1'], signalIds: [] } }])
  appends[0]?.settle.resolve({ status: 'appended', events: [] })
  await expect.poll(() => appends.map(({ types }) => types)).toEqual([['turn.started'], ['memory.recalled']])
  await letLoopRun()
  expect(isAsked()).toBe(false)
  appends[1]?.settle.resolve({ status: 'appended', events: [] })
  await expect.poll(() => appends.length).toBe(3)
  expect(shown).toContain('delta')
  expect(appends[2]?.types).toEqual(['chat.reply.sent', 'turn.completed', 'context.usage.recorded'])
  appends[2]?.settle.resolve({ status: 'appended', events: [] })
  await ended
})

test.for([0, 1])('leaves the turn for a retry when append %i fails, and asks nothing', async (failing) => {
  const { appends, isAsked, ended } = startTurn({
    gathered: Promise.resolve({ ...nothing, facts: [surfaced] }),
  })
  if (failing === 1) appends[0]?.settle.resolve({ status: 'appended', events: [] })
  await expect.poll(() => appends.length).toBe(failing + 1)
  appends[failing]?.settle.reject(new LedgerUnavailable('the disk is full'))
  await expect(ended).rejects.toThrow(LedgerUnavailable)
  expect(isAsked()).toBe(false)
  expect(appends).toHaveLength(failing + 1)
})

test('fails a turn whose input cannot be gathered, after its start', async () => {
  const { appends, ended } = startTurn({ gathered: Promise.reject(new Error('the chain cannot be read')) })
  appends[0]?.settle.resolve({ status: 'appended', events: [] })
  await expect.poll(() => appends.length).toBe(2)
  expect(appends.map(({ types }) => types)).toEqual([['turn.started'], ['turn.failed']])
  appends[1]?.settle.resolve({ status: 'appended', events: [] })
  await ended
})
