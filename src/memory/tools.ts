import * as z from 'zod'
import type { MemoryRow } from '../../projections/memories.ts'
import { defineTool, type Tool, type ToolContext } from '../tools/tool.ts'
import type { Memories, MemoryOrigin } from './memories.ts'

const RECALLED_MEMORIES = 20

/** What the delegate can do with memories when it is asked to. */
export function memoryTools(memories: Memories): Tool[] {
  return [
    defineTool({
      name: 'remember',
      description: 'Keeps a fact that the owner asks to be remembered, in the words of the owner.',
      parameters: z.object({ text: z.string().min(1).max(4000) }),
      idempotent: true,
      readOnly: false,
      async run({ text }, context) {
        if (context.messageSeq === null) {
          return { ok: false, reason: 'not_owner', message: 'Only what the owner says can be remembered.' }
        }
        const memory = await memories.remember(
          text,
          [context.messageSeq, context.calledSeq],
          context.key,
          originOf(context),
        )
        return {
          ok: true,
          data: { memory: present(memory) },
          refs: [refTo(memory)],
          derivedFrom: [memory.storedSeq],
        }
      },
    }),
    defineTool({
      name: 'recall',
      description: 'Looks up what is remembered about a subject; without a query, what was learned last.',
      parameters: z.object({ query: z.string().max(1000).nullable() }),
      idempotent: true,
      readOnly: true,
      async run({ query }) {
        const found = await memories.find(query, RECALLED_MEMORIES)
        return {
          ok: true,
          data: { memories: found.map(present) },
          refs: found.map(refTo),
          derivedFrom: found.map((memory) => memory.storedSeq),
        }
      },
    }),
    defineTool({
      name: 'forget',
      description: 'Forgets a memory for good, with everything derived from it.',
      parameters: z.object({ query: z.string().min(1).max(1000) }),
      idempotent: true,
      readOnly: false,
      async run({ query }, context) {
        if (context.messageSeq === null) {
          return { ok: false, reason: 'not_owner', message: 'Only the owner can have something forgotten.' }
        }
        const [memory, ...others] = await memories.find(query, RECALLED_MEMORIES)
        if (!memory) return { ok: false, reason: 'not_found', message: 'Nothing like that is remembered.' }
        if (others.length > 0) {
          return {
            ok: false,
            reason: 'ambiguous',
            message: `${others.length + 1} memories match; ask which one is meant.`,
          }
        }
        await memories.forget(memory.memoryId, originOf(context))
        return { ok: true, data: { forgotten: 1 }, refs: [refTo(memory)] }
      },
    }),
  ]
}

function originOf({ channel, conversationId, spanId, turnId, calledSeq }: ToolContext): MemoryOrigin {
  return { by: 'tool', channel, conversationId, spanId, turnId, causedBy: calledSeq }
}

function present({ memoryId, text, createdAt }: MemoryRow) {
  return { id: memoryId, text, since: createdAt }
}

function refTo({ memoryId }: MemoryRow) {
  return { kind: 'memory' as const, id: memoryId }
}
