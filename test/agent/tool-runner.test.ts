import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { type CallFact, createToolRunner } from '../../src/agent/turn/tool-runner.ts'
import { defineTool, type ToolResult } from '../../src/model/tool.ts'

const NOT_ASKED = {
  propose: () => Promise.reject(new Error('unexpected proposal')),
  areForeign: () => false,
}

const CONTEXT = {
  why: 'Asked for.',
  tally: { changes: 0, texts: 0 },
  turnId: 'turn',
  conversationId: 'conversation',
  spanId: 'span',
  channel: 'chat' as const,
  messageSeq: 1,
  timezone: 'UTC',
  nowMs: 0,
}

/** A runner over one tool that does `work`. Its facts are recorded once `written` is called. */
function openRunner(
  work: () => Promise<ToolResult>,
  readOnly: boolean,
  signal: AbortSignal = new AbortController().signal,
) {
  const recorded: NewEvent[] = []
  const faults: unknown[] = []
  const written = Promise.withResolvers<void>()
  const definition = { name: 'work', description: 'Works.', parameters: z.object({}), idempotent: true }
  const tool = defineTool(
    readOnly ? { ...definition, readOnly, run: work } : { ...definition, readOnly, run: work },
  )
  const runner = createToolRunner({
    append: async (events) => {
      recorded.push(...events)
      await written.promise
      return { status: 'appended', events: [] }
    },
    tools: new Map([[tool.name, tool]]),
    ...NOT_ASKED,
    nowMs: () => 0,
    onFault: (error) => faults.push(error),
  })
  const call = { callId: 'call', tool: 'work', arguments: '{}' }
  const round = { ...CONTEXT, signal }
  const run = (called: Promise<readonly CallFact[]>) => runner.run([call], called, round)
  return { run, recorded, faults, written: () => written.resolve() }
}

/** Runs one call of a tool that does `work`; returns its outcome, facts and faults. */
async function runTool(work: () => Promise<ToolResult>) {
  const { run, recorded, faults, written } = openRunner(work, false)
  written()
  const outcome = await run(CALLED).then(
    ({ outputs }) => ({ outputs }),
    (error: unknown) => ({ error }),
  )
  return { outcome, recorded, faults }
}

const CALLED = Promise.resolve([{ seq: 2, erased: false }])
const DONE: ToolResult = { ok: true, data: { done: true } }
const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve))

test('records nothing for a tool whose fact the disk refused, so that the turn can be resumed', async () => {
  const refused = new LedgerUnavailable('the disk is full')
  const { outcome, recorded, faults } = await runTool(() => Promise.reject(refused))
  expect(outcome).toEqual({ error: refused })
  expect(recorded).toEqual([])
  expect(faults).toEqual([])
})

test('tells the model that a tool failed, without the text of the error', async () => {
  const { outcome, recorded, faults } = await runTool(() => Promise.reject(new Error('a secret path')))
  expect(JSON.stringify(outcome)).toContain('The tool failed')
  expect(JSON.stringify([outcome, recorded])).not.toContain('a secret path')
  expect(recorded).toMatchObject([{ type: 'tool.returned', facts: { outcome: 'failed', reason: 'fault' } }])
  expect(faults).toHaveLength(1)
})

test('runs a read-only tool while its call is recorded, and records the result afterwards', async () => {
  const ran: string[] = []
  const { run, recorded, written } = openRunner(async () => {
    ran.push('work')
    return DONE
  }, true)
  const called = Promise.withResolvers<readonly CallFact[]>()
  const { outputs, recorded: outcome } = await run(called.promise)
  expect(outputs).toEqual([{ callId: 'call', output: '{"ok":true,"done":true}', foreign: null }])
  expect(recorded).toEqual([])
  called.resolve([{ seq: 7, erased: false }])
  await turnOfTheLoop()
  expect(recorded).toMatchObject([{ type: 'tool.returned', causedBy: 7, derivedFrom: [7] }])
  written()
  expect(await outcome).toHaveLength(1)
})

test('runs any other tool after its call is recorded, and waits until its result is recorded', async () => {
  const ran: string[] = []
  const { run, recorded, written } = openRunner(async () => {
    ran.push('work')
    return DONE
  }, false)
  const called = Promise.withResolvers<readonly CallFact[]>()
  let isOver = false
  const running = run(called.promise).then(() => {
    isOver = true
  })
  await turnOfTheLoop()
  expect(ran).toEqual([])
  called.resolve([{ seq: 7, erased: false }])
  await turnOfTheLoop()
  expect(ran).toEqual(['work'])
  expect(recorded).toMatchObject([{ type: 'tool.returned', causedBy: 7 }])
  expect(isOver).toBe(false)
  written()
  await running
})

test('refuses a call whose words were forgotten meanwhile', async () => {
  const ran: string[] = []
  const { run, recorded, written } = openRunner(async () => {
    ran.push('work')
    return DONE
  }, false)
  written()
  const { outputs } = await run(Promise.resolve([{ seq: 7, erased: true }]))
  expect(ran).toEqual([])
  expect(outputs[0]?.output).toContain('forgotten')
  expect(recorded).toMatchObject([{ facts: { outcome: 'refused', reason: 'forgotten' } }])
})

test('records no result for a call that the disk refused', async () => {
  const refused = new LedgerUnavailable('the disk is full')
  const called = Promise.reject(refused)
  called.catch(() => undefined)
  const { run, recorded } = openRunner(async () => DONE, true)
  const { recorded: outcome } = await run(called)
  await expect(outcome).rejects.toBe(refused)
  expect(recorded).toEqual([])
  await expect(openRunner(async () => DONE, false).run(called)).rejects.toBe(refused)
})

test('handles the failures of all calls of a round', async () => {
  const slow = Promise.withResolvers<ToolResult>()
  const called = Promise.withResolvers<readonly CallFact[]>()
  const definition = {
    description: 'Reads.',
    parameters: z.object({}),
    idempotent: true,
    readOnly: true,
  } as const
  const tools = [
    defineTool({ ...definition, name: 'quick', run: async () => DONE }),
    defineTool({ ...definition, name: 'slow', run: () => slow.promise }),
  ]
  const runner = createToolRunner({
    append: () => Promise.reject(new LedgerUnavailable('the disk is full')),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    ...NOT_ASKED,
    nowMs: () => 0,
    onFault: () => undefined,
  })
  const calls = tools.map(({ name }) => ({ callId: name, tool: name, arguments: '{}' }))
  const round = { ...CONTEXT, signal: new AbortController().signal }
  const unseen: unknown[] = []
  const onUnseen = (error: unknown) => void unseen.push(error)
  process.on('unhandledRejection', onUnseen)
  onTestFinished(() => void process.off('unhandledRejection', onUnseen))
  const running = runner.run(calls, called.promise, round)
  called.resolve([
    { seq: 2, erased: false },
    { seq: 3, erased: false },
  ])
  await turnOfTheLoop()
  slow.resolve(DONE)
  await expect((await running).recorded).rejects.toThrow(LedgerUnavailable)
  await turnOfTheLoop()
  expect(unseen).toEqual([])
})

test('reports no tool fault for a repeated call id', async () => {
  const twice = new Error('the model used the id of a call twice')
  const called = Promise.reject(twice)
  called.catch(() => undefined)
  const { run, faults } = openRunner(async () => DONE, false)
  await expect(run(called)).rejects.toBe(twice)
  expect(faults).toEqual([])
})

test('records the sources of a result', async () => {
  const { recorded } = await runTool(async () => ({ ...DONE, derivedFrom: [5, 9] }))
  expect(recorded).toMatchObject([
    { type: 'tool.returned', key: 'tool-returned:turn:call', causedBy: 2, derivedFrom: [2, 5, 9] },
  ])
})

test('records no result and no fault for a tool that its stopped turn ended', async () => {
  const stopped = new Error('stopped')
  const { run, recorded, faults, written } = openRunner(
    () => Promise.reject(stopped),
    false,
    AbortSignal.abort(stopped),
  )
  written()
  await expect(run(CALLED)).rejects.toBe(stopped)
  expect(recorded).toEqual([])
  expect(faults).toEqual([])
})
