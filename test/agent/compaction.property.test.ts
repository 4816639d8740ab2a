import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createChainReader } from '../../src/agent/context/chain.ts'
import { createCompactor } from '../../src/agent/context/compaction.ts'
import type { InputItem, ModelService, TextRequest } from '../../src/model/port.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'

const MODEL = { provider: 'p', model: 'm' }
const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
const CONVERSATION = 'c'

const wordsIn = (items: readonly InputItem[]) =>
  items.flatMap((item) => ('text' in item ? (item.text.match(/\bword\d+\b/g) ?? []) : []))

/** A model service whose capsule lists every word of its input. */
const service = {
  text: {
    id: MODEL,
    async *respond({ input }: TextRequest) {
      const text = wordsIn(input).join(' ') || 'nothing'
      yield { type: 'completed' as const, text, toolCalls: [], usage: USAGE, responseId: null, blob: null }
    },
  },
  chatModels: () => [],
  utility: null,
  structured: null,
  compaction: null,
  embedding: null,
  speech: null,
  realtime: null,
  check: async () => ({ ok: true, steps: [] }),
} satisfies ModelService

type Step = { readonly turn: number; readonly what: 'say' | 'reply' | 'complete' | 'fail' | 'compact' }

/** Turns end in any order, and a message may arrive while another is answered. */
const steps = fc.array(
  fc.record({
    turn: fc.integer({ min: 0, max: 3 }),
    what: fc.constantFrom<Step['what']>('say', 'reply', 'complete', 'fail', 'compact'),
  }),
  { minLength: 4, maxLength: 30 },
)

test('keeps each remaining word once in the chain for any order of turns and compactions', async () => {
  const { append, views, ledger } = await openTestStorage(testDirectory())
  let run = 0
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 5, max: 60 }), async (all, thresholdTokens) => {
      run += 1
      const conversationId = `${CONVERSATION}${run}`
      const chain = createChainReader(views, ledger)
      const compactor = createCompactor({
        append,
        views,
        chain,
        model: () => service,
        instructions: () => '',
        instructionSeqs: () => [],
        commitments: () => [],
        thresholdTokens: () => thresholdTokens,
        capsuleTriggerTokens: () => 1_000_000,
        timezone: () => 'UTC',
        newId: () => `x${Math.random()}`,
        nowMs: Date.now,
        log: { warn: () => undefined },
      })
      await append([{ type: 'conversation.started', actor: 'service', conversationId, facts: {} }])
      const standing: string[] = []
      const failed: string[][] = []
      /** Words of failed turns that a replacement may tell, whatever happens to them later. */
      const replaced = new Set<string>()
      const dropped: string[] = []
      const drop = (...turns: string[][]) =>
        dropped.push(...turns.flat().filter((word) => replaced.has(word)))
      const open = new Map<number, string[]>()
      const asked = new Set<number>()
      let count = 0
      for (const { turn, what } of all) {
        const turnId = `${conversationId}-${turn}`
        const place = { conversationId, turnId, channel: 'chat' as const }
        const word = () => {
          count += 1
          open.set(turn, [...(open.get(turn) ?? []), `word${count}`])
          return { text: `word${count}` }
        }
        if (what === 'compact') {
          const source = count % 2 ? 'manual' : 'automatic'
          for (const word of failed.flat()) replaced.add(word)
          const before = (await chain.read(conversationId, MODEL)).items.length
          await compactor.compact(conversationId, source, AbortSignal.timeout(5000))
          // Each round replaces at least one more item, and at most eight rounds run in a row.
          if (source === 'automatic')
            expect((await chain.read(conversationId, MODEL)).items.length).toBeLessThanOrEqual(
              Math.max(1, before - 8),
            )
          continue
        }
        if (what === 'complete') {
          standing.push(...(open.get(turn) ?? []))
          drop(...failed.splice(0))
        }
        if (what === 'fail' && asked.has(turn)) {
          failed.push(open.get(turn) ?? [])
          if (failed.length > 3) drop(failed.shift() ?? [])
        }
        const fact: NewEvent =
          what === 'say'
            ? { type: 'chat.message.received', actor: 'owner', ...place, facts: {}, body: word() }
            : what === 'reply'
              ? { type: 'chat.reply.sent', actor: 'delegate', ...place, facts: {}, body: word() }
              : what === 'complete'
                ? {
                    type: 'turn.completed',
                    actor: 'service',
                    ...place,
                    facts: {
                      model: MODEL,
                      usage: USAGE,
                      contextTokens: 0,
                      responseId: null,
                      rounds: 1,
                      durationMs: 0,
                    },
                  }
                : {
                    type: 'turn.failed',
                    actor: 'service',
                    ...place,
                    facts: { kind: 'timeout' },
                    body: { text: 'x' },
                  }
        if (what === 'say') asked.add(turn)
        if (what === 'complete' || what === 'fail') {
          open.delete(turn)
          asked.delete(turn)
        }
        await append([fact])
      }
      const expected = [...standing, ...failed.flat()].toSorted()
      // A restart reads the same chain.
      for (const reader of [chain, createChainReader(views, ledger)]) {
        const { items } = await reader.read(conversationId, MODEL)
        const words = wordsIn(items.map(({ item }) => item)).toSorted()
        expect(words.filter((word) => !dropped.includes(word))).toEqual(expected)
        expect(new Set(words).size).toBe(words.length)
      }
    }),
    { numRuns: 60 },
  )
})
