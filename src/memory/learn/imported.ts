import type { LimitFunction } from 'p-limit'
import type { Append, EventOf, NewEvent } from '../../../ledger/event.ts'
import type { MemoryQueries } from '../../../projections/memory-queries.ts'
import { toStrictSchema } from '../../model/openai/strict-schema.ts'
import type { StructuredModel } from '../../model/port.ts'
import { estimateTokens } from '../../model/tokens.ts'
import { asksNotToKeep } from '../../text/secrecy.ts'
import { extractionSchema } from './candidate.ts'
import type { Accepted } from './checks.ts'
import { EXTRACTION_INSTRUCTIONS, type Found, readWindow } from './extract-model.ts'
import { BY_SERVICE } from './facts.ts'
import type { LearningThread } from './learning-functions.ts'
import type { Utterance, Window } from './window.ts'

/** A message of a conversation with another assistant. */
export type ImportedText = {
  readonly speaker: 'owner' | 'assistant'
  readonly at: string
  readonly text: string
}

type Progress = EventOf<'import.reading.progressed'>

/** What the owner may keep as a memory. */
export type ImportedCandidate = Progress['facts']['candidates'][number] & {
  readonly words: NonNullable<Progress['body']>['words'][number]
}

export type ImportedReading = Omit<Found, 'checked'> & { readonly candidates: readonly ImportedCandidate[] }

/** Longer messages are cut to this length. */
const MAX_TEXT_CHARS = 20_000

/**
 * Finds memories in imported conversations, with the same extraction and the same checks as in the owner's own
 * conversations. Nothing becomes a memory until the owner keeps it.
 */
export function createImportedLearning(options: {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly thread: LearningThread
  readonly utility: () => StructuredModel | null
  readonly lock: LimitFunction
  readonly timezone: () => string
  readonly newId: () => string
}) {
  const { queries, thread, newId } = options

  const knownTo = ({ canonicalKey, statementKey }: ImportedCandidate['words']) =>
    [...queries.byCanonicalKey(canonicalKey), ...queries.byStatementKey(statementKey)][0]

  return {
    /** The model that reads; null for rules. */
    model: () => options.utility()?.id ?? null,
    /** What each request takes besides the words. */
    overheadTokens: (): number =>
      estimateTokens(EXTRACTION_INSTRUCTIONS) +
      estimateTokens(JSON.stringify(toStrictSchema(extractionSchema))),
    /**
     * Reads one piece of a conversation. Leaves out what is known already. Rejects with ModelError, and when `signal`
     * aborts.
     */
    async read(
      texts: readonly ImportedText[],
      partSeq: number,
      signal: AbortSignal,
    ): Promise<ImportedReading> {
      const { checked, ...how } = await readWindow(
        { window: windowOf(texts, partSeq), offered: [] },
        { thread, model: options.utility(), timezone: options.timezone(), signal },
      )
      const candidates = checked.flatMap((each) =>
        each.outcome === 'accepted' ? [toCandidate(each.accepted)] : [],
      )
      return { ...how, candidates: candidates.filter(({ words }) => knownTo(words) === undefined) }
    },
    /** Appends the memories that the owner keeps, with the facts of that decision. */
    keep: (
      chosen: readonly (ImportedCandidate & { readonly partSeq: number })[],
      decision: readonly NewEvent[],
    ) =>
      options.lock(async () => {
        const met = new Set<string>()
        const facts = chosen.flatMap(({ partSeq, ...candidate }): NewEvent[] => {
          const { canonicalKey } = candidate.words
          if (met.has(canonicalKey)) return []
          met.add(canonicalKey)
          const known = knownTo(candidate.words)
          return [known ? restated(known.memoryId, partSeq) : stored(candidate, partSeq, newId())]
        })
        await options.append([...facts, ...decision])
      }),
  }
}

export type ImportedLearning = ReturnType<typeof createImportedLearning>

/** The messages stand in for utterances, numbered within the window. */
function windowOf(texts: readonly ImportedText[], partSeq: number): Window {
  const place = { channel: null, conversationId: null, spanId: null, turnId: null, isKept: false }
  const all = texts.map(
    ({ speaker, at, text }, index): Utterance => ({
      ...{ ...place, seq: index + 1, at, text: text.slice(0, MAX_TEXT_CHARS) },
      speaker: speaker === 'owner' ? 'owner' : 'delegate',
    }),
  )
  const shown = all.filter(({ speaker, text }) => speaker !== 'owner' || !asksNotToKeep(text))
  const own = shown.filter(({ speaker }) => speaker === 'owner')
  return {
    readSeqs: own.map(({ seq }) => seq),
    quotables: own.map((utterance) => ({ text: utterance.text, utterance, seqs: [partSeq], agreed: false })),
    shown,
    key: '',
  }
}

function toCandidate(accepted: Accepted): ImportedCandidate {
  const { kind, singleValued, eventTime, validUntil, saidAt } = accepted
  const { text, subject, slot, value, quote, canonicalKey, slotKey, statementKey, keywords } = accepted
  const words = { text, subject, slot, value, quote, canonicalKey, slotKey, statementKey, keywords }
  return { kind, singleValued, eventTime, validUntil, saidAt, words }
}

function stored({ words, saidAt, ...facts }: ImportedCandidate, partSeq: number, memoryId: string): NewEvent {
  return {
    type: 'memory.stored',
    ...BY_SERVICE,
    derivedFrom: [partSeq],
    facts: {
      ...{ ...facts, memoryId, sourceSeqs: [partSeq], supersedes: null, linkedTo: null },
      ...{ validFrom: saidAt, by: 'extraction' },
    },
    body: words,
  }
}

function restated(memoryId: string, partSeq: number): NewEvent {
  return {
    type: 'memory.reinforced',
    ...BY_SERVICE,
    derivedFrom: [partSeq],
    facts: { memoryId, use: 'restatement', sourceSeqs: [partSeq] },
  }
}
