import * as z from 'zod'
import type { MemoryRow } from '../../projections/memory-queries.ts'
import { dayIn } from '../clock/day.ts'
import { type ActingContext, defineTool, type Tool, type ToolResult } from '../tools/tool.ts'
import { MAX_BARRED } from './forgetting.ts'
import { contentWords } from './language/words.ts'
import type { Memories, MemoryOrigin } from './memories.ts'

const RECALLED_MEMORIES = 20
/** More than this is not read out to be chosen from. */
const MAX_CHOICES = 8

/** What the delegate can do with memories when it is asked to. */
export function memoryTools(options: {
  readonly memories: Memories
  /** Resolves once what was said before is learned, or can be for now; a few seconds at most. */
  readonly settled: () => Promise<void>
}): Tool[] {
  const { memories, settled } = options
  return [
    defineTool({
      name: 'remember',
      description:
        'Keeps a fact that the owner asks to be remembered: one statement, complete in itself, in the words and the language of the owner.',
      parameters: z.object({ text: z.string().min(1).max(1000) }),
      idempotent: true,
      readOnly: false,
      async run({ text }, context) {
        const { messageSeq } = context
        if (messageSeq === null) return notOwner('Only what the owner says can be remembered.')
        const outcome = await memories.remember(text, context.key, { ...originOf(context), messageSeq })
        if (outcome.status === 'refused') {
          return {
            ok: false,
            reason: outcome.reason,
            message:
              'Not kept: it must be what the owner said, in the words, numbers and names of the owner.',
          }
        }
        const { memory, isNew } = outcome
        return {
          ok: true,
          data: { memory: present(memory), new: isNew },
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
        // Of all that is known, what was said a moment ago is a part.
        if (query === null) await settled()
        const found = await memories.find({ query, limit: RECALLED_MEMORIES })
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
      description:
        'Forgets a memory for good, with everything derived from it. The query is what it says, or its id. When several match, nothing is forgotten: ask the owner which one is meant.',
      parameters: z.object({ query: z.string().min(1).max(1000) }),
      idempotent: true,
      readOnly: false,
      async run({ query }, context) {
        if (context.messageSeq === null) return notOwner('Only the owner can have something forgotten.')
        const origin = originOf(context)
        await settled()
        const matches = await memories.find({ query, limit: RECALLED_MEMORIES, meant: true })
        const [memory] = matches
        if (!memory) {
          const barred = await memories.bar(contentWords(query), origin)
          if (barred > MAX_BARRED) return tooCommon()
          if (barred > 0) return { ok: true, data: { forgotten: 0, willNotBeLearned: barred } }
          return { ok: false, reason: 'not_found', message: 'Nothing like that is remembered.' }
        }
        if (matches.length > 1) return ambiguous(matches, context.timezone)
        await memories.forget(memory.memoryId, origin)
        return { ok: true, data: { forgotten: 1 }, refs: [refTo(memory)] }
      },
    }),
  ]
}

function ambiguous(matches: readonly MemoryRow[], timezone: string): ToolResult {
  const choices = matches.slice(0, MAX_CHOICES)
  const lines = choices.map(({ text, validFrom }) => `“${text}” (${dayIn(timezone, new Date(validFrom))})`)
  const more = matches.length > choices.length ? `, and ${matches.length - choices.length} more` : ''
  return {
    ok: false,
    reason: 'ambiguous',
    message: `${matches.length} memories match: ${lines.join('; ')}${more}. Which one is meant?`,
    derivedFrom: choices.map(({ storedSeq }) => storedSeq),
  }
}

function tooCommon(): ToolResult {
  return {
    ok: false,
    reason: 'too_common',
    message: `More than ${MAX_BARRED} messages speak of that, so nothing was forgotten. It takes words that tell what is meant from the rest; a message, a conversation or a period can be erased on the timeline.`,
  }
}

function notOwner(message: string): ToolResult {
  return { ok: false, reason: 'not_owner', message }
}

function originOf({
  channel,
  conversationId,
  spanId,
  turnId,
  calledSeq,
  messageSeq,
}: ActingContext): MemoryOrigin {
  return { by: 'tool', channel, conversationId, spanId, turnId, causedBy: calledSeq, messageSeq }
}

function present({ memoryId, text, validFrom, status }: MemoryRow) {
  return { id: memoryId, text, since: validFrom, ...(status === 'contested' ? { contested: true } : {}) }
}

function refTo({ memoryId }: MemoryRow) {
  return { kind: 'memory' as const, id: memoryId }
}
