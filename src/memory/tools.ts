import * as z from 'zod'
import type { MemoryRow } from '../../projections/memory-queries.ts'
import { dayIn } from '../lib/time.ts'
import {
  type ActingContext,
  defineTool,
  type Planned,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../model/tool.ts'
import { contentWords } from '../text/words.ts'
import type { FoundMemory } from './forget/find.ts'
import type { Memories, MemoryOrigin } from './memories.ts'

const RECALLED_MEMORIES = 20
/** Longer lists are not read out to choose from. */
const MAX_CHOICES = 8

/** What an erasure covers: hidden now, erased after a minute. */
export type Forgotten = {
  readonly undoSeconds: number
  readonly goes: readonly ForgottenGroup[]
  readonly stays: readonly ForgottenGroup[]
  /** The events that the groups quote. */
  readonly seqs: readonly number[]
}
type ForgottenGroup = { readonly kind: string; readonly count: number; readonly items: readonly string[] }

/** Forgets by an erasure; implemented outside this folder. */
export type Forgetting = {
  forget(
    target:
      | { readonly kind: 'memory'; readonly id: string }
      | { readonly kind: 'words'; readonly words: readonly string[] },
    context: ActingContext,
  ): Promise<Forgotten | 'nothing' | 'too_common'>
  /** False if there is nothing to undo. */
  undo(): Promise<boolean>
}

/** The delegate's tools for memories. */
export function memoryTools(options: {
  readonly memories: Memories
  readonly forgetting: Forgetting
  /** Resolves when everything said so far is learned or waits for a retry, after a few seconds at most. */
  readonly settled: () => Promise<void>
  /** Whether the indexes are up to date, after a short wait at most. */
  readonly isIndexed: () => Promise<boolean>
}): Tool[] {
  const { memories, forgetting, settled } = options

  /** The one memory that the query means; null if no memory matches. */
  async function findMeant(
    query: string,
    { timezone, messageSeq }: ToolContext,
  ): Promise<{ readonly meant: MemoryRow | null } | { readonly refusal: ToolResult }> {
    if (messageSeq === null) return { refusal: notOwner('Only the owner can ask to forget something.') }
    await settled()
    if (!(await options.isIndexed())) return { refusal: notIndexed() }
    const found = await memories.find({ query, limit: RECALLED_MEMORIES })
    const same = found.filter(({ match }) => match === 'same')
    const whole = found.filter(({ match }) => match === 'whole')
    const [meant, ...others] = same.length > 0 ? same : whole
    if (meant && others.length === 0) return { meant: meant.memory }
    return found.length > 0 ? { refusal: choice(found, timezone) } : { meant: null }
  }

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
            message: "Not saved: a memory must use the owner's own words, numbers and names.",
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
      reads: 'what it remembers',
      async run({ query }) {
        // The newest memories include what was said a moment ago.
        if (query === null) await settled()
        const found = (await memories.find({ query, limit: RECALLED_MEMORIES })).map(({ memory }) => memory)
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
        'Forgets a memory with everything learned from it: hidden at once, erased for good after a minute unless undone. The query is what it says, or its id. When several memories match, or only a part of the words, nothing is forgotten: ask the owner which one is meant.',
      parameters: z.object({ query: z.string().min(1).max(1000) }),
      idempotent: true,
      readOnly: false,
      async plan({ query }, context): Promise<Planned> {
        const found = await findMeant(query, context)
        if ('refusal' in found) return found
        const { meant } = found
        const words = meant?.text ?? query
        return {
          deed: {
            subject: meant ? `memory:${meant.memoryId}` : `words:${contentWords(query).join(' ')}`,
            arguments: { query: meant?.memoryId ?? query },
            title: meant ? 'Forget this for good' : 'Stop using messages that contain these words',
            detail: words,
            verb: 'Forget',
            derivedFrom: meant ? [meant.storedSeq] : [],
          },
        }
      },
      async run({ query }, context) {
        const found = await findMeant(query, context)
        if ('refusal' in found) return found.refusal
        const { meant } = found
        if (meant) {
          const forgotten = await forgetting.forget({ kind: 'memory', id: meant.memoryId }, context)
          return forgotten === 'nothing' || forgotten === 'too_common'
            ? notFound()
            : { ok: true, data: { forgotten: 1, ...planOf(forgotten) }, derivedFrom: forgotten.seqs }
        }
        const barred = await forgetting.forget({ kind: 'words', words: contentWords(query) }, context)
        if (barred === 'too_common') return tooCommon()
        if (barred === 'nothing') return notFound()
        return { ok: true, data: { forgotten: 0, ...planOf(barred) }, derivedFrom: barred.seqs }
      },
    }),
    defineTool({
      name: 'undo_forget',
      description: 'Brings back what was last forgotten in words, within a minute of it.',
      parameters: z.object({}),
      idempotent: false,
      readOnly: false,
      async run(_args, { messageSeq }) {
        if (messageSeq === null) return notOwner('Only the owner can undo.')
        if (await forgetting.undo()) return { ok: true, data: { undone: true } }
        return { ok: false, reason: 'nothing_to_undo', message: 'There is nothing left to undo.' }
      },
    }),
  ]
}

function planOf({ undoSeconds, goes, stays }: Forgotten) {
  return { undoSeconds, goes, stays }
}

function choice(found: readonly FoundMemory[], timezone: string): ToolResult {
  const choices = found.slice(0, MAX_CHOICES).map(({ memory }) => memory)
  const lines = choices.map(({ text, validFrom }) => `“${text}” (${dayIn(timezone, new Date(validFrom))})`)
  const more = found.length > choices.length ? `, and ${found.length - choices.length} more` : ''
  return {
    ok: false,
    reason: 'ambiguous',
    message: `Nothing was forgotten yet. Which one is meant: ${lines.join('; ')}${more}?`,
    derivedFrom: choices.map(({ storedSeq }) => storedSeq),
  }
}

/** With a partial index, the wrong memory might match. */
function notIndexed(): ToolResult {
  return {
    ok: false,
    reason: 'index_rebuilding',
    message: 'Nothing was forgotten, because the search index is being rebuilt. Try again in a few minutes.',
  }
}

function notFound(): ToolResult {
  return { ok: false, reason: 'not_found', message: 'No matching memories.' }
}

function tooCommon(): ToolResult {
  return {
    ok: false,
    reason: 'too_common',
    message:
      'Too many messages contain these words, so nothing was forgotten. Use more specific words, or erase a message, a conversation or a period on the timeline.',
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
  return { id: memoryId, text, since: validFrom, ...(status === 'active' ? {} : { [status]: true }) }
}

function refTo({ memoryId }: MemoryRow) {
  return { kind: 'memory' as const, id: memoryId }
}
