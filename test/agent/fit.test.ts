import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { SUMMARY_LABEL } from '../../src/agent/context/capsule.ts'
import type { ContextItem } from '../../src/agent/context/context.ts'
import { cutItem, cutText } from '../../src/agent/context/cut.ts'
import { fitHistory, fitRound, fitStanding, historyRoom } from '../../src/agent/context/fit.ts'
import { fitCall } from '../../src/agent/context/fit-call.ts'
import { type Profile, profileOf, thresholdsOf } from '../../src/agent/context/profile.ts'
import { offerTools } from '../../src/agent/tools/more-tools.ts'
import type { ChatModel, InputItem } from '../../src/model/port.ts'
import { estimateItemTokens, estimateTokens } from '../../src/model/tokens.ts'
import type { Tool } from '../../src/model/tool.ts'
import { estimateInput, headTokens } from '../../src/model/within-context.ts'

const profileFor = (tokens: number) => profileOf(tokens) as Profile
const said = (role: 'owner' | 'delegate', text: string): ContextItem => ({
  item: { type: 'message', role, text },
  seqs: [1],
  foreign: false,
})
const textsOf = (items: readonly ContextItem[]) =>
  items.map(({ item }) => (item.type === 'message' || item.type === 'inner' ? item.text : item.type))

const tool = (name: string, everyday: boolean): Tool =>
  ({
    name,
    ...(everyday ? { everyday } : {}),
    description: `${name} does what its long name says, and this description says it once more. `.repeat(3),
    brief: `Does ${name}.`,
    parameters: z.object({ query: z.string().nullable(), kind: z.enum(['a', 'b']).nullable() }),
  }) as unknown as Tool
const tools = [
  ...['rare_one', 'rare_two', 'rare_three'].map((name) => tool(name, false)),
  ...Array.from({ length: 9 }, (_, place) => tool(`everyday_${place}`, true)),
]

test('limits nothing of an unknown context, and no threshold of a large one', () => {
  const set = { compactTokens: 100_000, capsuleTokens: 20_000 }
  expect(profileOf(null)).toBeNull()
  expect(thresholdsOf(null, set)).toEqual(set)
  expect(thresholdsOf(profileOf(200_000), set)).toEqual(set)
  expect(thresholdsOf(profileOf(4_096), set)).toEqual({ compactTokens: 3_276, capsuleTokens: 1_638 })
})

test('cuts texts and results to size, with a note, and JSON stays JSON', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      fc.string({ maxLength: 4_000 }),
      fc.integer({ min: 60, max: 600 }),
      (value, text, tokens) => {
        const long = JSON.stringify({ ok: true, value, hits: Array.from({ length: 30 }, () => ({ text })) })
        const cut = cutItem({ type: 'tool_result', callId: 'c', output: long }, tokens)
        expect(estimateItemTokens(cut)).toBeLessThanOrEqual(tokens + 5)
        const output = cut.type === 'tool_result' ? JSON.parse(cut.output) : null
        if (cut.type === 'tool_result' && cut.output !== long) expect(output.cut).toMatch(/left out/)
        const shortened = cutText(text, tokens)
        expect(estimateTokens(shortened)).toBeLessThanOrEqual(tokens + 30)
        if (shortened !== text) expect(shortened).toMatch(/left out here: it does not fit/)
      },
    ),
    { numRuns: 200 },
  )
})

test('cuts what is nested to exhaust the stack', () => {
  const output = `{"ok":true,"value":${'['.repeat(8_000)}${']'.repeat(8_000)}}`
  const cut = cutItem({ type: 'tool_result', callId: 'c', output }, 200)
  expect(cut.type === 'tool_result' && JSON.parse(cut.output).cut).toMatch(/left out/)
})

test('keeps a conversation as it is while it fits, then its newest part after the summary', () => {
  const profile = profileFor(4_096)
  const summary: ContextItem = {
    item: { type: 'inner', label: SUMMARY_LABEL, text: 'Ada is the sister.' },
    seqs: [1],
    foreign: true,
  }
  const items = [
    summary,
    ...Array.from({ length: 20 }, (_, place) => [
      said('owner', `Question ${place}`),
      said('delegate', `Answer ${place}. ${'And more. '.repeat(20)}`),
    ]).flat(),
  ]
  expect(fitHistory(items, 10_000, profile)).toBe(items)
  const kept = fitHistory(items, 500, profile)
  expect(estimateInput(kept.map(({ item }) => item))).toBeLessThanOrEqual(500)
  const [first, note, next, ...others] = textsOf(kept)
  expect(first).toBe('Ada is the sister.')
  expect(note).toMatch(/left out here/)
  expect(next).toMatch(/^Question 1\d$/)
  expect(others.at(-1)).toMatch(/^Answer 19/)
})

test('gives standing instructions whole or not at all', () => {
  const given = fitStanding(
    [
      { id: 'a', title: 'A', content: 'Be brief.' },
      { id: 'b', title: 'B', content: 'Be long. '.repeat(100) },
      { id: 'c', title: 'C', content: 'Be kind.' },
    ],
    50,
  )
  expect(given.map(({ id }) => id)).toEqual(['a', 'c'])
})

test('offers all tools, all in brief, or the everyday ones and what was opened', () => {
  expect(offerTools(tools, [], 10_000)).toEqual({ tools })
  const brief = offerTools(tools, [], 900)
  expect(brief.isBrief).toBe(true)
  expect(brief.tools).toEqual(tools)
  const few = offerTools(tools, [], 400)
  const names = few.tools.map(({ name }) => name)
  expect(names).toContain('everyday_0')
  expect(names).not.toContain('rare_one')
  expect(few.tools.at(-1)).toMatchObject({
    name: 'more_tools',
    description: expect.stringContaining('rare_one'),
  })
  const opened: InputItem = {
    type: 'tool_result',
    callId: 'c',
    output: '{"ok":true,"opened":["rare_one","forbidden"]}',
  }
  const again = offerTools(tools, [opened], 400).tools.map(({ name }) => name)
  expect(again).toContain('rare_one')
  expect(again).not.toContain('forbidden')
})

test('a round fits into every context, whatever was said and returned', () => {
  const text = fc.string({ maxLength: 3_000, unit: 'grapheme' })
  const item: fc.Arbitrary<InputItem[]> = fc.oneof(
    text.map((output) => [
      { type: 'tool_call' as const, callId: output, name: 'everyday_0', arguments: '{}' },
      { type: 'tool_result' as const, callId: output, output: JSON.stringify({ ok: true, text: output }) },
    ]),
  )
  fc.assert(
    fc.property(
      fc.integer({ min: 3_000, max: 40_000 }),
      fc.array(fc.tuple(text, text), { maxLength: 12 }),
      fc.array(item, { maxLength: 5 }),
      (contextTokens, exchanges, rounds) => {
        const profile = profileFor(contextTokens)
        const request = { instructions: 'Be brief.', tools, timezone: 'UTC' }
        const turn = { request, model: {}, profile }
        const added: InputItem[] = [{ type: 'message', role: 'owner', text: 'What now?' }]
        const past = exchanges.flatMap(([one, other]) => [said('owner', one), said('delegate', other)])
        const history = fitHistory(past, historyRoom(turn, added), profile)
        const input = [...history.map((each) => each.item), ...added]
        const sent = fitRound(turn, input, rounds.flat())
        const used = headTokens(sent, {}) + estimateInput(sent.input)
        expect(used + Math.min(sent.maxOutputTokens ?? 0, contextTokens / 10)).toBeLessThanOrEqual(
          contextTokens,
        )
        expect(sent.input).toContain(added[0])
      },
    ),
    { numRuns: 150 },
  )
})

test('a request of a call fits into every context, with what was said last', async () => {
  const text = fc.string({ maxLength: 2_000, unit: 'grapheme' })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 3_000, max: 40_000 }),
      fc.array(text, { maxLength: 20 }),
      fc.array(text, { maxLength: 3 }),
      async (contextTokens, lines, results) => {
        const message = (line: string, place: number): InputItem => ({
          type: 'message',
          role: place % 2 === 0 ? 'owner' : 'delegate',
          text: line,
        })
        const asked: InputItem = { type: 'message', role: 'owner', text: 'What now?' }
        const tail = results.map((output): InputItem => ({ type: 'inner', label: 'memories', text: output }))
        const input = [...lines.map(message), asked, ...tail]
        const context = { tokens: contextTokens, learn: async () => undefined }
        const chat = { text: {}, compaction: null, context } as unknown as ChatModel
        const sent = await fitCall(chat, { instructions: 'Be brief.', timezone: 'UTC', tools, input })
        expect(headTokens(sent, {}) + estimateInput(sent.input)).toBeLessThan(contextTokens)
        expect(sent.input).toContainEqual(asked)
        const unlimited = { ...chat, context: { ...context, tokens: null } }
        expect((await fitCall(unlimited, { instructions: '', timezone: 'UTC', tools, input })).input).toBe(
          input,
        )
      },
    ),
    { numRuns: 100 },
  )
})
