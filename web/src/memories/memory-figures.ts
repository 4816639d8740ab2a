/** The figures of the Memory Insights page, each with its meaning. */
import type { MemoryInsights } from '../../../src/http/contract/memories.ts'
import { capitalised, countText, durationText, relativeText, wordsText } from '../design/format.ts'
import { msg } from '../design/msg.ts'

type Embedding = MemoryInsights['runtime']['embedding']

export type MemoryFigure = {
  readonly name: string
  readonly value: string
  readonly meaning: string
  /** `live`: in progress; `bad`: needs attention. */
  readonly tone?: 'live' | 'bad'
  /** The page with its setting. */
  readonly link?: { readonly path: string; readonly label: string }
}

const counted = (name: string, count: number, meaning: string): MemoryFigure => ({
  name,
  value: countText(count),
  meaning,
})

export function storeFigures({ store }: MemoryInsights): MemoryFigure[] {
  return [
    counted(msg`Active`, store.total, msg`Recalled when relevant`),
    counted(msg`Contested`, store.contested, msg`Contradict each other; kept until you say which is right`),
    counted(
      msg`Unconfirmed`,
      store.provisional ?? 0,
      msg`Delegate is not sure you meant these; not used until you confirm or repeat them`,
    ),
    counted(msg`Superseded`, store.superseded, msg`Replaced by a newer memory`),
    counted(msg`Retired`, store.retired, msg`No longer true, or taken back`),
    counted(msg`Forgotten`, store.forgotten, msg`Text erased`),
  ]
}

export function kindFigures({ store }: MemoryInsights): MemoryFigure[] {
  const kinds = Object.entries(store.byKind).sort(([a, m], [b, n]) => n - m || a.localeCompare(b))
  return kinds.map(([kind, count]) => counted(capitalised(wordsText(kind)), count, ''))
}

export function deduplicationFigures({ deduplication: counts }: MemoryInsights): MemoryFigure[] {
  return [
    counted(msg`Candidates`, counts.candidates, msg`Statements considered`),
    counted(msg`New`, counts.inserted, msg`Stored as a new memory`),
    counted(msg`Reinforced`, counts.reinforced, msg`Already known: the memory got stronger`),
    counted(msg`Merged`, counts.merged, msg`Made an existing memory more precise`),
    counted(msg`Discarded`, counts.discarded, msg`Not stored: uncertain, foreign or duplicate`),
  ]
}

export function recallFigures({ runtime, deduplication }: MemoryInsights): MemoryFigure[] {
  const { recall, embedding } = runtime
  return [
    counted(msg`Searches`, recall.queries, msg`Searches for relevant memories before a turn`),
    counted(msg`In time`, recall.inTime, msg`Finished before the turn started`),
    counted(msg`Late`, recall.late, msg`Results used in the next turn`),
    counted(msg`Failed`, recall.failed, msg`The turn continued without memories`),
    counted(
      msg`Held back`,
      deduplication.suppressed,
      msg`Found but not used: already known, irrelevant or too late`,
    ),
    {
      name: msg`Last duration`,
      value: recall.lastDurationMs === null ? '–' : durationText(recall.lastDurationMs),
      meaning: '',
    },
    embeddingFigure(embedding),
  ]
}

/** Whether texts are being embedded, or will be soon. */
export function isUnderWay({ state, embedded, total }: Embedding): boolean {
  return state === 'embedding' || (state === 'up_to_date' && embedded < total)
}

/** The progress of embedding, which recall by meaning needs. */
function embeddingFigure(embedding: Embedding): MemoryFigure {
  const name = msg`By meaning`
  const { state, model, embedded, total } = embedding
  if (state === 'off') {
    return {
      name,
      value: msg`Off`,
      meaning: msg`No embedding model is set, so memories are found by keywords only`,
      link: { path: '/settings#model', label: msg`Settings` },
    }
  }
  const value = msg`${countText(embedded)} of ${countText(total)}`
  if (state === 'waiting') return { name, value, meaning: failureText(embedding), tone: 'bad' }
  const by = model === null ? '' : msg` by ${model}`
  if (isUnderWay(embedding)) {
    return {
      name,
      value,
      meaning: msg`Turns and memories embedded${by}; the rest are in progress`,
      tone: 'live',
    }
  }
  return total === 0
    ? { name, value: msg`Ready`, meaning: msg`New messages will be embedded${by}` }
    : { name, value, meaning: msg`All turns and memories are embedded${by}` }
}

const failures: Readonly<Record<string, string>> = {
  auth: msg`rejected the key`,
  quota: msg`has no credit left`,
  rate_limited: msg`is rate limiting`,
  unavailable: msg`could not be reached`,
  timeout: msg`timed out`,
  malformed: msg`returned an invalid response`,
  refused: msg`refused the request`,
  context_too_long: msg`rejected the texts as too long`,
}

function failureText({ model, lastFailure, retryAt }: Embedding): string {
  const failure =
    lastFailure === null
      ? msg`failed`
      : (failures[lastFailure.kind] ?? msg`failed (${wordsText(lastFailure.kind)})`)
  const isDue = retryAt === null || Date.parse(retryAt) <= Date.now()
  const relative = isDue ? msg`now` : relativeText(retryAt)
  const when = relative === msg`now` ? msg`soon` : relative
  return msg`${model ?? msg`The model`} ${failure}; next retry ${when}. Until then, new texts are found by keywords only`
}
