import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventOf, NewEvent } from '../../ledger/event.ts'
import { createSignalQueries } from '../../projections/signals.ts'
import { createTurnQueries, type TurnRow } from '../../projections/turns.ts'
import { createActivationRunner, LONGEST_RETRY_MS } from '../../src/agent/activation.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

const MODEL = { provider: 'p', model: 'm' }
const TRIES = 4

type Outcome = 'spoke' | 'failed' | 'stopped' | 'preempted' | 'shutdown'

/** An activation runner whose turns end with the outcome that the test sets. */
async function openRunner() {
  let nowMs = Date.UTC(2030, 0, 1)
  const { append, ledger, views } = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  const signals = createSignalQueries(views)
  const turns = createTurnQueries(views)

  async function endTurn(
    { turnId, conversationId, spanId }: Pick<TurnRow, 'turnId' | 'conversationId' | 'spanId'>,
    outcome: Outcome,
    said: readonly NewEvent[] = [],
  ): Promise<void> {
    const place = { turnId, conversationId, spanId, channel: 'inner' } as const
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
    const started = { trigger: 'activation', party: 'owner', model: MODEL } as const
    await append([
      {
        type: 'turn.started',
        actor: 'service',
        ...place,
        facts: { ...started, adaptationIds: [], signalIds: [] },
      },
      ...said,
      outcome === 'spoke'
        ? {
            type: 'turn.completed',
            actor: 'service',
            ...place,
            facts: { model: MODEL, usage, contextTokens: 0, responseId: null, rounds: 1, durationMs: 0 },
          }
        : {
            type: 'turn.failed',
            actor: 'service',
            ...place,
            facts: { kind: outcome === 'failed' ? 'unavailable' : 'stopped' },
            body: { text: 'It came to nothing.' },
          },
    ])
  }

  let next: Outcome = 'spoke'
  let controller = new AbortController()
  const runner = createActivationRunner({
    append,
    ledger,
    openConversationId: () => 'c',
    async runTurn(turn) {
      if (next !== 'spoke' && next !== 'failed') controller.abort(next)
      await endTurn(turn, next)
    },
    turnById: turns.byId,
    unfinishedTurns: turns.unfinished,
    newId,
    nowMs: () => nowMs,
  })
  return {
    ledger,
    append,
    signals,
    runner,
    endTurn,
    wait: (ms: number) => {
      nowMs += ms
    },
    nowMs: () => nowMs,
    waking: () => signals.waking({ nowMs, longestWaitMs: LONGEST_RETRY_MS }),
    raise: (signalId: string) =>
      append([
        {
          type: 'signal.raised',
          actor: 'service',
          facts: { signalId, kind: 'timer_due', mode: 'wake', priority: 5, dedupKey: signalId },
          body: { text: `${signalId} is due` },
        },
      ]),
    /** Runs the waiting signals and returns the failures. */
    async run(outcome: Outcome): Promise<EventOf<'activation.failed'>[]> {
      next = outcome
      controller = new AbortController()
      const { seq } = ledger.head()
      await runner.runActivation(
        signals.waking({ nowMs, longestWaitMs: LONGEST_RETRY_MS }),
        controller.signal,
      )
      return ledger.readAfter(seq, 100).filter((event) => event.type === 'activation.failed')
    },
  }
}

test('gives up a signal after four tries with growing pauses, not counting preemptions', async () => {
  const attention = await openRunner()
  let signal = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Outcome>('spoke', 'failed', 'stopped', 'preempted', 'shutdown'), {
        minLength: 1,
        maxLength: 12,
      }),
      async (outcomes) => {
        signal += 1
        await attention.raise(`s${signal}`)
        let tries = 0
        let pauseMs = 0
        for (const outcome of [...outcomes, 'failed', 'failed', 'failed', 'failed'] as const) {
          expect(attention.waking().map(({ signalId }) => signalId)).toEqual([`s${signal}`])
          const [failed] = await attention.run(outcome)
          if (outcome === 'spoke') break
          const isTry = outcome === 'failed' || outcome === 'stopped'
          if (isTry) tries += 1
          expect(failed?.facts).toMatchObject({ attempt: tries, final: tries === TRIES })
          if (tries === TRIES) {
            expect(failed?.facts.retryAt).toBeNull()
            break
          }
          const waitMs = Date.parse(failed?.facts.retryAt ?? '') - attention.nowMs()
          expect(waitMs).toBeLessThanOrEqual(LONGEST_RETRY_MS)
          if (isTry) {
            expect(waitMs).toBeGreaterThan(pauseMs)
            pauseMs = waitMs
            attention.wait(waitMs - 1)
            expect(attention.waking()).toEqual([])
            attention.wait(1)
          } else attention.wait(waitMs)
        }
        // The signal is settled: it must not come back.
        attention.wait(10 * LONGEST_RETRY_MS)
        expect(attention.waking()).toEqual([])
        expect(attention.signals.nextRetryAt()).toBeNull()
      },
    ),
    { numRuns: 40 },
  )
})

test('counts the tries of each signal separately', async () => {
  const attention = await openRunner()
  await attention.raise('old')
  for (let tries = 1; tries < TRIES; tries += 1) {
    await attention.run('failed')
    attention.wait(LONGEST_RETRY_MS)
  }
  await attention.raise('new')
  const failed: [readonly string[], number, boolean][] = []
  for (let round = 0; round < 10 && attention.waking().length > 0; round += 1) {
    for (const { facts } of await attention.run('failed'))
      failed.push([facts.signalIds, facts.attempt, facts.final])
    if (attention.waking().length === 0) attention.wait(LONGEST_RETRY_MS)
  }
  expect(failed).toEqual([
    [['old'], 4, true],
    [['new'], 1, false],
    [['new'], 2, false],
    [['new'], 3, false],
    [['new'], 4, true],
  ])
})

test.each([true, false])(
  'fails an activation that a crash interrupted and retries its signal (turn started: %s)',
  async (hasBegun) => {
    const { append, ledger, raise, runner, signals } = await openRunner()
    await raise('s')
    const place = { conversationId: 'c', spanId: 'sp', turnId: 't', channel: 'inner' } as const
    await append([
      {
        type: 'activation.started',
        actor: 'service',
        ...place,
        facts: { activationId: 'a', signalIds: ['s'], attempt: 2 },
      },
      ...(hasBegun
        ? [
            {
              type: 'turn.started' as const,
              actor: 'service' as const,
              ...place,
              facts: {
                trigger: 'activation' as const,
                party: 'owner' as const,
                model: MODEL,
                adaptationIds: [],
                signalIds: [],
              },
            },
          ]
        : []),
    ])
    const { seq } = ledger.head()
    for (let start = 0; start < 2; start += 1) {
      await runner.recover(signals.running(), signals.ofActivation)
      expect(ledger.readAfter(seq, 100).map(({ type }) => type)).toEqual([
        ...(hasBegun ? ['turn.failed'] : []),
        'activation.failed',
        'span.closed',
      ])
    }
    const failed = ledger.readAfter(seq, 100).find((event) => event.type === 'activation.failed')
    expect(failed?.facts).toMatchObject({
      activationId: 'a',
      signalIds: ['s'],
      attempt: 2,
      final: false,
      kind: 'interrupted',
    })
    expect(signals.nextRetryAt()).toBe(failed?.facts.retryAt)
  },
)

test.each([true, false])(
  'settles the signals of an activation whose turn ended before a crash (replied: %s)',
  async (hasSpoken) => {
    const { append, ledger, raise, runner, signals, endTurn } = await openRunner()
    await raise('s')
    const place = { conversationId: 'c', spanId: 'sp', turnId: 't', channel: 'inner' } as const
    await append([
      {
        type: 'activation.started',
        actor: 'service',
        ...place,
        facts: { activationId: 'a', signalIds: ['s'], attempt: 1 },
      },
    ])
    const reply = {
      type: 'chat.reply.sent' as const,
      actor: 'delegate' as const,
      ...place,
      facts: {},
      body: { text: 's is due' },
    }
    await endTurn(place, 'spoke', hasSpoken ? [reply] : [])
    const { seq } = ledger.head()
    for (let start = 0; start < 2; start += 1) {
      await runner.recover(signals.running(), signals.ofActivation)
      expect(ledger.readAfter(seq, 100)).toMatchObject([
        {
          type: 'activation.completed',
          facts: { activationId: 'a', signalIds: ['s'], outcome: hasSpoken ? 'spoke' : 'silent' },
        },
        { type: 'span.closed', spanId: 'sp', facts: { reason: 'completed' } },
      ])
    }
    expect(signals.waking({ nowMs: Date.UTC(2040, 0, 1), longestWaitMs: LONGEST_RETRY_MS })).toEqual([])
  },
)

test('ends the orphaned turn of an activation at the next start', async () => {
  const { append, ledger, runner, signals } = await openRunner()
  const place = { conversationId: 'c', spanId: 'sp', channel: 'inner', actor: 'service' } as const
  const started = { party: 'owner' as const, model: MODEL, adaptationIds: [], signalIds: [] }
  await append([
    { type: 'turn.started', ...place, turnId: 't1', facts: { ...started, trigger: 'activation' } },
    { type: 'turn.started', ...place, turnId: 't2', facts: { ...started, trigger: 'message' } },
  ])
  const { seq } = ledger.head()
  await runner.recover(signals.running(), signals.ofActivation)
  expect(ledger.readAfter(seq, 100)).toMatchObject([
    { type: 'turn.failed', turnId: 't1', facts: { kind: 'interrupted' } },
  ])
})

test('runs all waiting signals in one activation that derives from each', async () => {
  const { ledger, raise, run, waking } = await openRunner()
  for (const id of ['a', 'b', 'c']) await raise(id)
  const seqs = waking().map(({ seq }) => seq)
  await run('spoke')
  const started = ledger.readAfter(0, 100).filter((event) => event.type === 'activation.started')
  expect(started).toMatchObject([{ derivedFrom: seqs, facts: { signalIds: ['a', 'b', 'c'], attempt: 1 } }])
  expect(waking()).toEqual([])
})
