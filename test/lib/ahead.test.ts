import { expect, onTestFinished, test } from 'vitest'
import { createChainReader } from '../../src/agent/context/chain.ts'
import { createCompactor } from '../../src/agent/context/compaction.ts'
import { createEnding } from '../../src/agent/conversation/ending.ts'
import { createProposals } from '../../src/agent/proposals/proposals.ts'
import { createCapabilities } from '../../src/model/openai/capabilities.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { openTab } from '../support/chat-tab.ts'
import { testDirectory } from '../support/directory.ts'
import { createTestOutbox } from '../support/outbox.ts'
import { startWholeService } from '../support/service.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

const YEAR_MS = 365 * 86_400_000

test('runs retries and erasures on time after the clock was ten years ahead', async () => {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  let aheadMs = 10 * YEAR_MS
  const isAhead = () => aheadMs >= YEAR_MS
  double.answerWith(({ body }) =>
    isAhead() && /Nobody has spoken/.test(String(body.instructions))
      ? { fault: httpFaults.unauthorised() }
      : { text: 'Certainly.' },
  )
  double.answerMemoryWith(() =>
    isAhead() ? { fault: httpFaults.unauthorised() } : { text: '{"candidates":[]}' },
  )
  const service = await startWholeService({
    nowMs: () => Date.now() + aheadMs,
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
    },
  })
  const { client } = service
  const tab = await openTab(service)
  const said = await client.post('/api/chat', { content: 'My cat is called Minka.' })
  await tab.hear(({ event }) => event?.type === 'memory.extraction.failed')
  await client.post('/api/timers', { title: 'Tea', at: new Date(Date.now() + aheadMs + 100).toISOString() })
  await tab.hear(({ event }) => event?.type === 'activation.failed')
  const note = await client.post('/api/notes', { title: 'Old', content: 'Words' })
  expect(note.status, note.text).toBe(201)
  const erasure = await client.post('/api/erasures', { kind: 'note', id: note.json.id })
  expect(erasure.status, erasure.text).toBe(201)
  expect(said.status).toBe(200)

  aheadMs = 0
  expect((await client.post('/api/chat', { content: 'What is the time?' })).status).toBe(200)
  await tab.hear(({ event }) => event?.type === 'memory.extraction.completed')
  await tab.hear(({ event }) => event?.type === 'activation.completed')
  const status = async () => (await client.get(`/api/erasures/${erasure.json.id}`)).json.status
  // The undo period is measured by the corrected clock.
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect(await status()).toBe('pending')
  aheadMs = 61_000
  await expect.poll(status).toBe('erased')
})

test('treats an interaction as idle if its last event lies ten years ahead', async () => {
  let nowMs = Date.now() + 10 * YEAR_MS
  const { append, views } = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  const place = { conversationId: 'c', spanId: 's', actor: 'service' } as const
  await append([
    { type: 'conversation.started', conversationId: 'c', actor: 'service', facts: {} },
    { type: 'span.opened', ...place, facts: { kind: 'interaction' } },
  ])
  const ending = createEnding({
    append,
    views,
    nowMs: () => nowMs,
    isBusy: () => false,
    stopTurns: async () => undefined,
  })
  expect(ending.idleSpans(60_000)).toEqual([])
  nowMs -= 10 * YEAR_MS
  expect(ending.idleSpans(60_000)).toMatchObject([{ spanId: 's' }])
})

test('retries a delivery that failed while the clock was ahead', async () => {
  const channel = 'webhook'
  const storage = await openTestStorage(testDirectory())
  const { append, ledger } = storage
  const facts = { deliveryId: 'd1', channel, attempt: 1 } as const
  const retryAt = new Date(Date.now() + 10 * YEAR_MS).toISOString()
  await append([
    {
      type: 'delivery.requested',
      actor: 'service',
      facts: { deliveryId: 'd1', channel, taskId: null, maxAttempts: 3 },
      body: { target: '+15550100', text: 'Heliotrope' },
    },
    { type: 'delivery.attempted', actor: 'service', facts },
    {
      type: 'delivery.failed',
      actor: 'service',
      facts: { ...facts, kind: 'unavailable', final: false, retryAt },
    },
  ])
  createTestOutbox(storage).start()
  const outcome = () => {
    const last = ledger.readRange(1, 100).findLast(({ type }) => type === 'delivery.failed')
    return last?.type === 'delivery.failed' ? last.facts : null
  }
  await expect.poll(outcome).toMatchObject({ kind: 'not_configured', attempt: 2, final: true })
})

test('resumes compaction after failures while the clock was ahead', async () => {
  let nowMs = Date.now() + 10 * YEAR_MS
  const { append, views, ledger } = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  const compactor = createCompactor({
    append,
    views,
    chain: createChainReader(views, ledger),
    model: () => {
      throw new Error('unexpected model request')
    },
    instructions: () => '',
    instructionSeqs: () => [],
    commitments: () => [],
    thresholdTokens: () => 1000,
    capsuleTriggerTokens: () => 1_000_000,
    timezone: () => 'UTC',
    newId,
    nowMs: () => nowMs,
    log: { warn: () => undefined },
  })
  await append([
    { type: 'conversation.started', actor: 'service', conversationId: 'c', facts: {} },
    {
      type: 'turn.completed',
      actor: 'service',
      channel: 'chat',
      conversationId: 'c',
      turnId: 't',
      facts: {
        model: { provider: 'p', model: 'm' },
        usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
        contextTokens: 5000,
        responseId: null,
        rounds: 1,
        durationMs: 0,
      },
    },
  ])
  expect(compactor.isDue('c')).toBe(true)
  for (const compactionId of ['1', '2', '3']) {
    await append([
      {
        type: 'context.compaction.failed',
        actor: 'service',
        channel: 'inner',
        conversationId: 'c',
        facts: { compactionId, source: 'automatic', kind: 'timeout' },
      },
    ])
  }
  expect(compactor.isDue('c')).toBe(false)
  nowMs -= 10 * YEAR_MS
  expect(compactor.isDue('c')).toBe(true)
})

test('expires a proposal that was made while the clock was years ahead', async () => {
  let nowMs = Date.now() + 10 * YEAR_MS
  const { append, views, ledger } = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  const proposals = createProposals({
    append,
    ledger,
    views,
    placement: {} as never,
    tools: () => new Map(),
    isHeld: () => false,
    onHeadMoved: () => () => undefined,
    timezone: () => 'UTC',
    onFault: () => undefined,
    nowMs: () => nowMs,
    newId,
  })
  await append([
    {
      type: 'proposal.made',
      actor: 'delegate',
      facts: { proposalId: 'p', kind: 'sms', expiresAt: new Date(nowMs + 86_400_000).toISOString() },
      body: { target: '+14155550177', text: 'I am late.' },
    },
  ])
  expect(proposals.open()).toHaveLength(1)
  nowMs -= 3_600_000
  expect(proposals.open()).toHaveLength(1)
  nowMs -= 10 * YEAR_MS
  expect(proposals.open()).toEqual([])
  expect(await proposals.confirm('p')).toMatchObject({ status: 'too_late', proposal: { status: 'expired' } })
})

test('rechecks a missing capability found while the clock was ahead', () => {
  let nowMs = 10 * YEAR_MS
  const capabilities = createCapabilities(() => nowMs)
  capabilities.markLacking('here', 'json_schema')
  expect(capabilities.lacks('here', 'json_schema')).toBe(true)
  nowMs = 0
  expect(capabilities.lacks('here', 'json_schema')).toBe(false)
})
