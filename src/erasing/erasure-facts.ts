import type { NewEvent } from '../../ledger/event.ts'
import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import type { ErasureRow } from '../../projections/erasures.ts'
import type { ErasureOrigin } from './erasures.ts'
import { countKinds, roleOf } from './kinds.ts'
import { type ErasureRoot, type Redaction, wordsOfTexts } from './plan.ts'
import type { ErasureTarget, Forgettable } from './targets.ts'

const SEQS_A_FACT = 500

export type ErasureRequest = {
  named: readonly number[]
  barred: readonly number[]
  memoryIds: readonly string[]
  messageSeqs: readonly number[]
  isByTool: boolean
  isOfImport: boolean
}

/** The facts that request an erasure and hide its events, split by the limit on seqs. */
export function requestFacts(found: {
  readonly target: ErasureTarget
  readonly origin: ErasureOrigin
  readonly erasureId: string
  readonly eraseAt: string
  readonly named: Forgettable
  readonly events: readonly AnyEvent[]
}): NewEvent[] {
  const { target, erasureId, eraseAt, named, events } = found
  const { causedBy, channel, conversationId, spanId, turnId } = found.origin
  const parts = partsOf(events.map(({ seq }) => seq))
  const isNamed = new Set(named.roots.flatMap(({ seq, stays }) => (stays ? [] : [seq])))
  return parts.map((seqs, part) => ({
    type: 'erasure.requested',
    actor: turnId ? 'delegate' : 'owner',
    channel,
    conversationId,
    spanId,
    turnId,
    causedBy,
    facts: {
      erasureId,
      target: target.kind === 'messages' ? 'message' : target.kind,
      targetId: 'id' in target && target.kind !== 'messages' ? target.id : null,
      from: target.kind === 'period' ? target.from : null,
      to: target.kind === 'period' ? target.to : null,
      seqs,
      namedSeqs: seqs.filter((seq) => isNamed.has(seq)),
      ...(part === 0
        ? {
            barredSeqs: named.barredSeqs.slice(0, SEQS_A_FACT),
            ...(named.messageSeqs.length === 0 ? {} : { messageSeqs: [...named.messageSeqs] }),
            memoryIds: [...named.memoryIds],
          }
        : {}),
      part,
      parts: parts.length,
      kinds: part === 0 ? countKinds(events) : [],
      eraseAt,
    },
  }))
}

/** A plan's redacted copies. They name no erased source, which would erase the copy as well. */
export function redactionFacts(
  redactions: readonly Redaction[],
  erasureId: string,
  wholeLedger: LedgerReader,
): NewEvent[] {
  return redactions.map(({ seq, replySeq, text }): NewEvent => {
    const [reply] = wholeLedger.readSeqs([seq])
    return {
      type: 'reply.redacted',
      actor: 'service',
      channel: 'system',
      derivedFrom: unerased([replySeq, ...(reply?.derivedFrom ?? [])], wholeLedger),
      facts: { replySeq, erasureId },
      body: { text },
    }
  })
}

/** These sources; in place of an erased one, its own, whose words it may have repeated. */
function unerased(seqs: readonly number[], wholeLedger: LedgerReader): number[] {
  const met = new Set(seqs)
  const found: number[] = []
  // A set also visits what is added meanwhile.
  for (const seq of met) {
    const [source] = wholeLedger.readSeqs([seq])
    if (source?.erased === false) found.push(seq)
    else for (const earlier of source?.derivedFrom ?? []) met.add(earlier)
  }
  return found.sort((a, b) => a - b)
}

/** Reads a request back from its facts. */
export function requestedParts(
  { erasureId, requestedSeq }: ErasureRow,
  wholeLedger: LedgerReader,
): ErasureRequest {
  const found: ErasureRequest = {
    ...{ named: [], barred: [], memoryIds: [], messageSeqs: [] },
    ...{ isByTool: false, isOfImport: false },
  }
  for (let seq = requestedSeq, part = 0, parts = 1; part < parts; seq += 1, part += 1) {
    const [event] = wholeLedger.readSeqs([seq])
    if (event?.type !== 'erasure.requested' || event.facts.erasureId !== erasureId) break
    const { seqs, namedSeqs = seqs, barredSeqs = [], memoryIds = [], messageSeqs = [] } = event.facts
    parts = event.facts.parts
    found.named = [...found.named, ...namedSeqs]
    found.barred = [...found.barred, ...barredSeqs]
    found.memoryIds = [...found.memoryIds, ...memoryIds]
    found.messageSeqs = [...found.messageSeqs, ...messageSeqs]
    found.isByTool = event.turnId !== null
    found.isOfImport = event.facts.target === 'import' || event.facts.target === 'imported'
  }
  return found
}

/**
 * The roots of a request. Named events lose all their words. What memories and messages came from loses nothing
 * itself, but quotations of what is forgotten go.
 */
export function rootsOf(request: ErasureRequest, wholeLedger: LedgerReader): ErasureRoot[] {
  const { named, memoryIds, messageSeqs } = request
  if (memoryIds.length + messageSeqs.length === 0)
    return named.map((seq) => ({ seq, words: request.isOfImport ? [] : null, stays: false }))
  const stored = wholeLedger.readSeqs([...named].sort((a, b) => a - b))
  const words = wordsOfTexts([
    ...stored.flatMap((event) =>
      event.type === 'memory.stored' && event.body ? [event.body.text, event.body.value] : [],
    ),
    ...wholeLedger.readSeqs(messageSeqs).map(saidText),
  ])
  return [
    ...stored.map(({ seq }) => ({ seq, words, stays: false })),
    ...saidOf(request, wholeLedger).map((seq) => ({ seq, words, stays: true })),
  ]
}

/** The messages that a request leaves on the timeline. */
export function saidOf({ barred }: ErasureRequest, ledger: LedgerReader): number[] {
  return ledger.readSeqs(barred).flatMap((event) => (roleOf(event) === 'said' ? [event.seq] : []))
}

function saidText(event: AnyEvent): string | null {
  return event.type !== 'unknown' && event.body && 'text' in event.body ? String(event.body.text) : null
}

/** The facts that delete memories, each with its own key; the first one bars the sources. */
export function deletionFacts({ memoryIds, barred, isByTool }: ErasureRequest, causedBy: number): NewEvent[] {
  return memoryIds.map((memoryId, index) => ({
    type: 'memory.deleted',
    actor: isByTool ? 'delegate' : 'owner',
    channel: 'system',
    causedBy,
    key: `memory-deleted:${memoryId}`,
    facts: { memoryId, sourceSeqs: index === 0 ? [...barred] : [], by: isByTool ? 'tool' : 'owner' },
  }))
}

/** Shared by undoing and starting, so that only the first of them is appended. */
export function endKey(erasureId: string): string {
  return `erasure-ended:${erasureId}`
}

/** Splits seqs by the limit of one fact; one empty part if there are none. */
export function partsOf(seqs: readonly number[]): number[][] {
  const parts: number[][] = []
  for (let start = 0; start < seqs.length; start += SEQS_A_FACT)
    parts.push(seqs.slice(start, start + SEQS_A_FACT))
  return parts.length > 0 ? parts : [[]]
}
