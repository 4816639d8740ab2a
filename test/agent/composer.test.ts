import { expect, test } from 'vitest'
import { createSignalQueries } from '../../projections/signals.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { createChainReader } from '../../src/agent/context/chain.ts'
import { createComposer } from '../../src/agent/context/composer.ts'
import type { Recall } from '../../src/lib/recall.ts'
import type { ModelService } from '../../src/model/port.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'

const MODEL = { provider: 'p', model: 'm' }
const AT = { conversationId: 'c', spanId: 's', channel: 'chat' } as const
const service = { text: { id: MODEL } } as Partial<ModelService> as ModelService

/** A conversation with one unanswered message and an attached signal. */
async function openComposer() {
  const { append, ledger, views } = await openTestStorage(testDirectory())
  const recalls: Parameters<Recall>[0][] = []
  const signals = createSignalQueries(views)
  const composer = createComposer({
    foreignAmong: () => [],
    isHalted: () => false,
    ledger,
    chain: createChainReader(views, ledger),
    recall: async (cue) => {
      recalls.push(cue)
      return { text: null, facts: [], seqs: [] }
    },
    ridingSignals: signals.riding,
    adaptations: () => [],
    adaptationSeqs: () => [],
    tools: new Map(),
    timezone: () => 'UTC',
  })
  const turnOf = (turnId: string) => {
    const found = createTurnQueries(views).byId(turnId)
    if (!found) throw new Error('turn not found')
    return found
  }
  const raised = { kind: 'text_failed', mode: 'next-turn', priority: 4 } as const
  await append([
    { type: 'conversation.started', actor: 'service', ...AT, facts: {} },
    {
      type: 'signal.raised',
      actor: 'service',
      facts: { ...raised, signalId: 'rides', dedupKey: 'rides' },
      body: { text: 'The text to Ann did not arrive' },
    },
    {
      type: 'chat.message.received',
      actor: 'owner',
      ...AT,
      turnId: 't',
      facts: {},
      body: { text: 'Did it arrive?' },
    },
  ])
  const turn = turnOf('t')
  return { append, ledger, composer, recalls, turn, turnOf, signals }
}

test('recalls from what came before the message, never from the message itself', async () => {
  const { composer, recalls, turn } = await openComposer()
  await composer.compose(turn, service, { textOnly: false })?.gather()
  expect(recalls).toMatchObject([{ text: 'Did it arrive?', beforeSeq: turn.causeSeq }])
})

test('attaches a signal to the owner’s turn, among its sources, but not to an activation', async () => {
  const { append, ledger, composer, turn, signals } = await openComposer()
  const [riding] = signals.riding()
  const composing = composer.compose(turn, service, { textOnly: false })
  expect(composing?.opening.signalIds).toEqual(['rides'])
  const composed = await composing?.gather()
  expect(composed?.seenSeqs).toEqual([riding?.seq])
  expect(JSON.stringify(composed?.input)).toContain('did not arrive')

  const started = await append([
    {
      type: 'activation.started',
      actor: 'service',
      ...AT,
      turnId: 'a',
      derivedFrom: [],
      facts: { activationId: 'a', signalIds: ['other'], attempt: 1 },
    },
  ])
  expect(started.status).toBe('appended')
  const activation = { ...turn, turnId: 'a', trigger: 'activation' as const, causeSeq: ledger.head().seq }
  const ofActivation = composer.compose(activation, service, { textOnly: false })
  expect(ofActivation?.opening.signalIds).toEqual([])
  expect(JSON.stringify((await ofActivation?.gather())?.input)).not.toContain('did not arrive')
})

test('records once that a turn succeeded on a replacement', async () => {
  const { append, composer, turn } = await openComposer()
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
  await append([
    {
      type: 'context.compaction.succeeded',
      actor: 'service',
      ...AT,
      facts: {
        compactionId: 'k',
        source: 'manual',
        method: 'model',
        model: MODEL,
        throughSeq: 1,
        inputTokensBefore: 10,
        inputTokensAfter: 5,
        usage,
      },
      body: { text: 'All of it.', replacement: null },
    },
  ])
  const first = await composer.compose(turn, service, { textOnly: false })?.gather()
  expect(first?.facts).toEqual([])
  expect(first?.proven.map(({ type }) => type)).toEqual(['context.replacement.consumed'])
  await append(first?.proven ?? [])
  expect((await composer.compose(turn, service, { textOnly: false })?.gather())?.proven).toEqual([])
})
