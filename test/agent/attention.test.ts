import { expect, onTestFinished, test } from 'vitest'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append } from '../../ledger/event.ts'
import { createSignalQueries } from '../../projections/signals.ts'
import { createTurnQueries, type TurnRow } from '../../projections/turns.ts'
import { createActivationRunner, LONGEST_RETRY_MS } from '../../src/agent/activation.ts'
import { createAttention } from '../../src/agent/attention.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

/** Attention over real storage. The disk fills up with the first fact of each activation. */
async function startAttention() {
  let nowMs = Date.UTC(2030, 0, 1)
  let isFull = false
  let activations = 0
  const storage = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  const { ledger, views } = storage
  const signals = createSignalQueries(views)
  const turns = createTurnQueries(views)
  const append: Append = (events) =>
    isFull ? Promise.reject(new LedgerUnavailable('the disk is full')) : storage.append(events)
  const runner = createActivationRunner({
    append,
    ledger,
    openConversationId: () => 'c',
    async runTurn() {
      activations += 1
      isFull = true
    },
    turnById: turns.byId,
    unfinishedTurns: turns.unfinished,
    newId,
    nowMs: () => nowMs,
  })
  const faults: unknown[] = []
  const attention = createAttention({
    waitingTurns: () => [],
    wakingSignals: () => signals.waking({ nowMs, longestWaitMs: LONGEST_RETRY_MS }),
    hasInterrupt: signals.hasInterrupt,
    nextRetryAtMs: () => null,
    onHeadMoved: storage.onHeadMoved,
    areas: ['signal', 'activation'],
    runTurn: async () => undefined,
    runActivation: runner.runActivation,
    afterTurn: async () => undefined,
    recover: () => runner.recover(signals.running(), signals.ofActivation),
    nowMs: () => nowMs,
    onFault: (error) => faults.push(error),
  })
  attention.start()
  onTestFinished(() => attention.close(0))
  const raise = (signalId: string) =>
    storage.append([
      {
        type: 'signal.raised',
        actor: 'service',
        facts: { signalId, kind: 'timer_due', mode: 'wake', priority: 5, dedupKey: signalId },
        body: { text: `${signalId} is due` },
      },
    ])
  return {
    raise,
    faults,
    activations: () => activations,
    failed: () => ledger.readAfter(0, 100).filter((event) => event.type === 'activation.failed'),
    freeDisk() {
      isFull = false
    },
    wait(ms: number) {
      nowMs += ms
    },
  }
}

test('retries an activation without a restart once a full disk has room again', async () => {
  const { raise, faults, activations, failed, freeDisk, wait } = await startAttention()
  await raise('reminder')
  await expect.poll(() => faults.length).toBeGreaterThan(0)
  expect(activations()).toBe(1)
  freeDisk()
  await expect.poll(failed).toHaveLength(1)
  expect(failed()).toMatchObject([{ facts: { signalIds: ['reminder'], attempt: 1, final: false } }])
  wait(LONGEST_RETRY_MS)
  await raise('other')
  await expect.poll(activations).toBe(2)
})

/** Attention over lists. `background` runs after each turn and never ends by itself. */
function startBusyAttention(kind: 'upkeep' | 'exclusive') {
  const waiting: string[] = []
  const ran: string[] = []
  const begun = Promise.withResolvers<void>()
  let reason: unknown = null
  let notify: () => void = () => undefined
  const hang = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      begun.resolve()
      signal.addEventListener('abort', () => {
        reason = signal.reason
        resolve()
      })
    })
  let upkeeps = 0
  const attention = createAttention({
    waitingTurns: () => waiting.map((turnId) => ({ turnId }) as TurnRow),
    wakingSignals: () => [],
    hasInterrupt: () => false,
    nextRetryAtMs: () => null,
    onHeadMoved: (listener) => {
      notify = listener
      return () => undefined
    },
    areas: [],
    async runTurn({ turnId }) {
      ran.push(turnId)
      waiting.shift()
    },
    runActivation: async () => undefined,
    async afterTurn(signal) {
      upkeeps += 1
      if (kind === 'upkeep' && upkeeps === 1) await hang(signal)
    },
    recover: async () => undefined,
    nowMs: Date.now,
    onFault: (error) => {
      throw error
    },
    upkeepGraceMs: 50,
  })
  attention.start()
  onTestFinished(() => attention.close(0))
  return {
    attention,
    hang,
    begun: begun.promise,
    ran,
    reason: () => reason,
    say(turnId: string) {
      waiting.push(turnId)
      notify()
    },
  }
}

test.each(['upkeep', 'exclusive'] as const)(
  'interrupts a hanging compaction for a waiting message (%s)',
  async (kind) => {
    const { attention, hang, begun, ran, reason, say } = startBusyAttention(kind)
    if (kind === 'upkeep') say('first')
    else void attention.exclusively(hang)
    await begun
    say('second')
    await expect.poll(() => ran.at(-1)).toBe('second')
    expect(reason()).toBe('preempted')
  },
)

test('does not immediately rerun a turn whose outcome the views do not show', async () => {
  let runs = 0
  const faults: unknown[] = []
  const attention = createAttention({
    waitingTurns: () => [{ turnId: 'stuck' } as TurnRow],
    wakingSignals: () => [],
    hasInterrupt: () => false,
    nextRetryAtMs: () => null,
    onHeadMoved: () => () => undefined,
    areas: [],
    async runTurn() {
      runs += 1
      // Lets timers run, so that the test can look even if the turn is rerun forever.
      await new Promise((resolve) => setTimeout(resolve, 5))
    },
    runActivation: async () => undefined,
    afterTurn: async () => undefined,
    recover: async () => undefined,
    nowMs: Date.now,
    onFault: (error) => void faults.push(error),
  })
  attention.start()
  onTestFinished(() => attention.close(0))
  await expect.poll(() => faults).toMatchObject([{ name: 'NoProgress' }])
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(runs).toBe(1)
})
