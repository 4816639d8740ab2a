import * as z from 'zod'
import type { MemoryRow } from '../../projections/memory-queries.ts'
import { english } from '../language/message.ts'
import { oneLine, shorten } from '../lib/shorten.ts'
import { dayIn } from '../lib/time.ts'
import {
  type ActingContext,
  type Deed,
  defineTool,
  type Planned,
  refuse,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../model/tool.ts'
import {
  type Candidate,
  chosenIn,
  type FindCandidates,
  isMemory,
  MAX_CANDIDATES,
  meantBy,
} from './forget/candidates.ts'
import type { Chosen } from './forget/forgettable.ts'
import type { Memories } from './memories.ts'
import { type Recollection, sourcesOf } from './recall/recollections.ts'

/** Limit of memories, and of messages beside them. */
const RECALLED = 20
const MESSAGE_CHARS = 250
/** Longer lists are not read out to choose from. */
const MAX_CHOICES = 8
const NOT_FOUND = refuse('not_found', 'No matching memories.')
const TOO_COMMON = refuse(
  'too_common',
  'Too many messages contain these words, so nothing was forgotten. Use more specific words, or erase a message, a conversation or a period on the timeline.',
)

/** What an erasure covers. */
export type Extent = {
  readonly goes: readonly ForgottenGroup[]
  readonly stays: readonly ForgottenGroup[]
  /** The events that the groups quote. */
  readonly seqs: readonly number[]
}
type ForgottenGroup = { readonly kind: string; readonly count: number; readonly items: readonly string[] }

/** The memories and messages that recall finds for a query, best first. */
export type LookedUp = { readonly memories: readonly MemoryRow[]; readonly said: readonly Recollection[] }

/** Forgets by an erasure; implemented outside this folder. */
export type Forgetting = {
  /** `askedSeq`: the message that asked. It is barred as well. */
  forget(
    chosen: Chosen,
    askedSeq: number | null,
    context: ActingContext,
  ): Promise<
    | { readonly erasure: Extent & { readonly undoSeconds: number } }
    | { readonly status: 'unknown' | 'too_much' }
  >
  /** Undoes the last one, and tells what came back. Null if there is nothing to undo. */
  undo(): Promise<Extent | null>
}

/** The delegate's tools for memories. */
export function memoryTools(options: {
  readonly memories: Memories
  readonly forgetting: Forgetting
  readonly candidates: (asked: Omit<FindCandidates, 'isRead'>) => Promise<readonly Candidate[]>
  /** What this turn has asked the owner to choose from, and the owner has not chosen yet. */
  readonly offeredIn: (turnId: string) => readonly string[]
  /** The memories that were learned last. */
  readonly latest: (limit: number) => readonly MemoryRow[]
  readonly lookUp: (query: string, context: ToolContext) => Promise<LookedUp>
  /** Resolves when everything said so far is learned or waits for a retry, after a few seconds at most. */
  readonly settled: () => Promise<void>
  /** Whether the indexes are up to date, after a short wait at most. */
  readonly isIndexed: () => Promise<boolean>
}): Tool[] {
  const { memories, forgetting, settled } = options

  /** What the query may mean, and the one candidate that it means without doubt, if there is one. */
  async function findMeant(
    query: string,
    { timezone, nowMs, messageSeq }: ToolContext,
  ): Promise<
    | { readonly meant: Candidate | null; readonly deed: Deed }
    | { readonly refusal: Exclude<ToolResult, { ok: true }> }
  > {
    if (messageSeq === null)
      return { refusal: refuse('not_owner', 'Only the owner can ask to forget something.') }
    await settled()
    // With a partial index, the wrong memory might match.
    if (!(await options.isIndexed()))
      return {
        refusal: refuse(
          'index_rebuilding',
          'Nothing was forgotten, because the search index is being rebuilt. Try again in a few minutes.',
        ),
      }
    const found = await options.candidates({ query, askedSeq: messageSeq, nowMs, timezone })
    if (found.length === 0) return { refusal: NOT_FOUND }
    const meant = meantBy(found)
    if (meant) return { meant, deed: deedOf([meant], timezone) }
    const isCommon = found.length > MAX_CANDIDATES && !found.some(isMemory)
    if (isCommon) return { refusal: TOO_COMMON }
    return { meant, deed: deedOf(found.slice(0, MAX_CANDIDATES), timezone) }
  }

  async function forgetChosen(
    chosen: readonly string[],
    askedSeq: number | null,
    context: ActingContext,
  ): Promise<ToolResult> {
    const { memoryIds, messageSeqs } = chosenIn(chosen)
    const outcome = await forgetting.forget({ memoryIds, messageSeqs }, askedSeq, context)
    if (!('erasure' in outcome)) return outcome.status === 'too_much' ? TOO_COMMON : NOT_FOUND
    const { seqs, ...plan } = outcome.erasure
    return { ok: true, data: { forgotten: memoryIds.length, ...plan }, derivedFrom: seqs }
  }

  return [
    defineTool({
      name: 'remember',
      everyday: true,
      class: 'free',
      description:
        'Keeps a fact that the owner asks to be remembered: one statement, complete in itself, in the words and the language of the owner.',
      brief: 'Keeps a fact that the owner asks to be remembered: one statement in their words.',
      parameters: z.object({ text: z.string().min(1).max(1000) }),
      idempotent: true,
      readOnly: false,
      async run({ text }, context) {
        const { key, conversationId, spanId, turnId, calledSeq: causedBy, messageSeq } = context
        if (messageSeq === null) return refuse('not_owner', 'Only what the owner says can be remembered.')
        const place = { conversationId, spanId, turnId, causedBy }
        const outcome = await memories.remember(text, key, { ...place, messageSeq })
        if (outcome.status === 'refused') {
          return refuse(
            outcome.reason,
            outcome.reason === 'not_to_keep'
              ? 'Not saved: the same message asks not to keep what it says.'
              : "Not saved: a memory must use the owner's own words, numbers and names.",
          )
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
      everyday: true,
      class: 'free',
      description:
        'Looks up what is remembered or was said about a subject; without a query, what was learned last.',
      brief: 'Looks up what is remembered and was said; without a query, what was learned last.',
      parameters: z.object({ query: z.string().max(1000).nullable() }),
      idempotent: true,
      readOnly: true,
      reads: 'what it remembers',
      async run({ query }, context) {
        // The newest memories include what was said a moment ago.
        if (query === null) await settled()
        const found =
          query === null
            ? { memories: options.latest(RECALLED), said: [] }
            : await options.lookUp(query, context)
        const known = found.memories.slice(0, RECALLED)
        const said = found.said.slice(0, RECALLED)
        return {
          ok: true,
          data: {
            memories: known.map(present),
            ...(query === null ? {} : { said: said.map(presentMessage) }),
          },
          refs: known.map(refTo),
          derivedFrom: [...known.map(({ storedSeq }) => storedSeq), ...said.flatMap(sourcesOf)],
        }
      },
    }),
    defineTool({
      name: 'forget',
      everyday: true,
      // It erases for good after a minute, and no revision brings that back.
      class: 'consequential',
      description:
        'Forgets a memory, or something the owner said, with everything learned from it: hidden at once, erased for good after a minute unless undone. The query is what it says, in the words of the owner, or the id of a memory. Unless exactly one thing matches in full, nothing is forgotten and the owner chooses in the browser; never choose for the owner.',
      brief:
        'Forgets a memory, or something the owner said: what it says, in their words. If that is unclear, the owner chooses.',
      parameters: z.object({ query: z.string().min(1).max(1000) }),
      idempotent: true,
      readOnly: false,
      async plan({ query }, context): Promise<Planned> {
        return findMeant(query, context)
      },
      async run({ query }, context) {
        const found = await findMeant(query, context)
        if ('refusal' in found) return found.refusal
        const { meant, deed } = found
        // A model must not pick one of the choices that it has just been shown.
        const isOffered = meant !== null && options.offeredIn(context.turnId).includes(meant.ref)
        if (meant && !isOffered) {
          const result = await forgetChosen([meant.ref], context.messageSeq, context)
          // A message stays, so the plan does not tell which one it is.
          return result.ok && !isMemory(meant)
            ? { ...result, data: { ...result.data, message: meant.text } }
            : result
        }
        return {
          ...refuse('ambiguous', `Nothing was forgotten yet. Which one is meant: ${deed.detail}?`),
          derivedFrom: deed.derivedFrom,
          ...(isOffered ? {} : { choice: deed }),
        }
      },
      choose: forgetChosen,
    }),
    defineTool({
      name: 'undo_forget',
      class: 'free',
      description: 'Brings back what was last forgotten in words, within a minute of it.',
      parameters: z.object({}),
      idempotent: false,
      readOnly: false,
      async run(_args, { messageSeq }) {
        if (messageSeq === null) return refuse('not_owner', 'Only the owner can undo.')
        const undone = await forgetting.undo()
        if (undone === null) return refuse('nothing_to_undo', 'There is nothing left to undo.')
        return { ok: true, data: { undone: true, restored: undone.goes }, derivedFrom: undone.seqs }
      },
    }),
  ]
}

/** Forgetting candidates, or those of several that the owner chooses. */
function deedOf(found: readonly Candidate[], timezone: string): Deed {
  const refs = found.map(({ ref }) => ref)
  const [first] = found
  const shown = found.slice(0, MAX_CHOICES)
  const lines = shown.map((candidate) => {
    const said = isMemory(candidate) ? '' : 'said: '
    return `${said}“${oneLine(candidate.text)}” (${dayIn(timezone, new Date(candidate.at))})`
  })
  const more = found.length > shown.length ? `, and ${found.length - shown.length} more` : ''
  return {
    subject: refs.join(' '),
    arguments: {},
    title:
      found.length > 1
        ? english`Forget what you choose`
        : first && isMemory(first)
          ? english`Forget this for good`
          : english`Stop using this`,
    detail: `${lines.join('; ')}${more}`,
    verb: english`Forget`,
    derivedFrom: found.map(({ seq }) => seq),
    choices: refs,
  }
}

function present({ memoryId, text, validFrom, status }: MemoryRow) {
  return { id: memoryId, text, since: validFrom, ...(status === 'active' ? {} : { [status]: true }) }
}

/** A message of the past, with what holds now in place of what was learned from it. */
function presentMessage({ atMs, speaker, text, corrections }: Recollection) {
  return {
    at: new Date(atMs).toISOString(),
    who: speaker,
    text: shorten(text, MESSAGE_CHARS),
    ...(corrections.length === 0 ? {} : { correctedSince: corrections.map((correction) => correction.text) }),
  }
}

function refTo({ memoryId }: MemoryRow) {
  return { kind: 'memory' as const, id: memoryId }
}
