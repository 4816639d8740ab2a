import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { createToolRunner } from '../../src/agent/turn/tool-runner.ts'
import { defineTool, type ToolResult } from '../../src/model/tool.ts'

const NOT_ASKED = {
  propose: () => Promise.reject(new Error('unexpected proposal')),
  foreignAmong: () => [],
}

const CONTEXT = {
  why: 'Asked for.',
  tally: { changes: 0, texts: 0 },
  right: 'everything' as const,
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
  timezone = 'UTC',
) {
  const recorded: NewEvent[] = []
  const faults: unknown[] = []
  const written = Promise.withResolvers<void>()
  const definition = {
    name: 'work',
    description: 'Works.',
    parameters: z.object({}),
    class: 'free',
    idempotent: true,
  } as const
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
  const round = { ...CONTEXT, signal, timezone }
  const run = (fact: { seq: number; erased: boolean }) => runner.run([{ ...call, ...fact }], round)
  return { run, recorded, faults, written: () => written.resolve() }
}

test('tells the model every time of a result on the clock of the owner, and leaves words alone', async () => {
  const at = '2026-06-01T20:15:30.250Z'
  const work = async () =>
    ({ ok: true, data: { hits: [{ at, text: at }], dueAt: at, chooseUntil: null } }) as const
  const { run, recorded, written } = openRunner(work, true, undefined, 'Asia/Kolkata')
  written()
  const local = '2026-06-02T01:45:30.250+05:30'
  const output = { ok: true, hits: [{ at: local, text: at }], dueAt: local, chooseUntil: null }
  expect(await run(CALLED)).toMatchObject([{ output: JSON.stringify(output) }])
  expect(recorded).toMatchObject([{ body: { result: JSON.stringify(output) } }])
})

/** Runs one call of a tool that does `work`; returns its outcome, facts and faults. */
async function runTool(work: () => Promise<ToolResult>) {
  const { run, recorded, faults, written } = openRunner(work, false)
  written()
  const outcome = await run(CALLED).then(
    (outputs) => ({ outputs }),
    (error: unknown) => ({ error }),
  )
  return { outcome, recorded, faults }
}

const CALLED = { seq: 2, erased: false }
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

test.for([true, false])('waits until a result is recorded (read-only: %s)', async (readOnly) => {
  const { run, recorded, written } = openRunner(async () => DONE, readOnly)
  let isOver = false
  const running = run({ seq: 7, erased: false }).finally(() => {
    isOver = true
  })
  await turnOfTheLoop()
  expect(recorded).toMatchObject([{ type: 'tool.returned', causedBy: 7, derivedFrom: [7] }])
  expect(isOver).toBe(false)
  written()
  expect(await running).toEqual([
    { callId: 'call', output: '{"ok":true,"done":true}', foreign: null, seq: 7 },
  ])
})

test('refuses a call whose words were forgotten meanwhile', async () => {
  const ran: string[] = []
  const { run, recorded, written } = openRunner(async () => {
    ran.push('work')
    return DONE
  }, false)
  written()
  const outputs = await run({ seq: 7, erased: true })
  expect(ran).toEqual([])
  expect(outputs[0]?.output).toContain('forgotten')
  expect(recorded).toMatchObject([{ facts: { outcome: 'refused', reason: 'forgotten' } }])
})

test('handles the failures of all calls of a round', async () => {
  const slow = Promise.withResolvers<ToolResult>()
  const definition = {
    description: 'Reads.',
    parameters: z.object({}),
    class: 'free',
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
  const calls = tools.map(({ name }) => ({ callId: name, tool: name, arguments: '{}', ...CALLED }))
  const round = { ...CONTEXT, signal: new AbortController().signal }
  const unseen: unknown[] = []
  const onUnseen = (error: unknown) => void unseen.push(error)
  process.on('unhandledRejection', onUnseen)
  onTestFinished(() => void process.off('unhandledRejection', onUnseen))
  const running = expect(runner.run(calls, round)).rejects.toThrow(LedgerUnavailable)
  await turnOfTheLoop()
  slow.resolve(DONE)
  await running
  await turnOfTheLoop()
  expect(unseen).toEqual([])
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
