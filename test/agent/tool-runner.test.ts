import { expect, test } from 'vitest'
import * as z from 'zod'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { createToolRunner } from '../../src/agent/tool-runner.ts'
import { defineTool, type ToolResult } from '../../src/tools/tool.ts'

const CONTEXT = {
  turnId: 'turn',
  conversationId: 'conversation',
  spanId: 'span',
  channel: 'chat' as const,
  messageSeq: 1,
  timezone: 'UTC',
  nowMs: 0,
}

/** Runs one call of a tool that does `work`, and what was recorded of it. */
async function runTool(work: () => Promise<ToolResult>) {
  const recorded: NewEvent[] = []
  const faults: unknown[] = []
  const tool = defineTool({
    name: 'write',
    description: 'Writes.',
    parameters: z.object({}),
    idempotent: true,
    readOnly: false,
    run: work,
  })
  const runner = createToolRunner({
    append: async (events) => {
      recorded.push(...events)
      return { status: 'appended', events: [] }
    },
    tools: new Map([[tool.name, tool]]),
    nowMs: () => 0,
    onFault: (error) => faults.push(error),
  })
  const call = { seq: 2, callId: 'call', tool: 'write', arguments: '{}' }
  const outcome = await runner.run([call], { ...CONTEXT, signal: new AbortController().signal }).then(
    (outcomes) => ({ outcomes }),
    (error: unknown) => ({ error }),
  )
  return { outcome, recorded, faults }
}

test('a tool whose fact the disk refused has no outcome: nothing is recorded, and the turn may be taken up again', async () => {
  const refused = new LedgerUnavailable('the disk is full')
  const { outcome, recorded, faults } = await runTool(() => Promise.reject(refused))
  expect(outcome).toEqual({ error: refused })
  expect(recorded).toEqual([])
  expect(faults).toEqual([])
})

test('a tool that fails otherwise is an outcome that the model hears of, without its words', async () => {
  const { outcome, recorded, faults } = await runTool(() => Promise.reject(new Error('a secret path')))
  expect(JSON.stringify(outcome)).toContain('The tool failed')
  expect(JSON.stringify([outcome, recorded])).not.toContain('a secret path')
  expect(recorded).toMatchObject([{ type: 'tool.returned', facts: { outcome: 'failed', reason: 'fault' } }])
  expect(faults).toHaveLength(1)
})
