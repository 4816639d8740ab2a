/** The figures of the Memory Insights page, each with its meaning. */
import type { MemoryInsights } from '../../../src/http/contract/memories.ts'
import { capitalised, countText, durationText, relativeText, wordsText } from '../design/format.ts'

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
    counted('Active', store.total, 'Recalled when relevant'),
    counted('Contested', store.contested, 'Contradict each other; kept until you say which is right'),
    counted(
      'Unconfirmed',
      store.provisional ?? 0,
      'Delegate is not sure you meant these; not used until you confirm or repeat them',
    ),
    counted('Superseded', store.superseded, 'Replaced by a newer memory'),
    counted('Retired', store.retired, 'No longer true, or taken back'),
    counted('Forgotten', store.forgotten, 'Text erased'),
  ]
}

export function kindFigures({ store }: MemoryInsights): MemoryFigure[] {
  const kinds = Object.entries(store.byKind).sort(([a, m], [b, n]) => n - m || a.localeCompare(b))
  return kinds.map(([kind, count]) => counted(capitalised(wordsText(kind)), count, ''))
}

export function deduplicationFigures({ deduplication: counts }: MemoryInsights): MemoryFigure[] {
  return [
    counted('Candidates', counts.candidates, 'Statements considered'),
    counted('New', counts.inserted, 'Stored as a new memory'),
    counted('Reinforced', counts.reinforced, 'Already known: the memory got stronger'),
    counted('Merged', counts.merged, 'Made an existing memory more precise'),
    counted('Discarded', counts.discarded, 'Not stored: uncertain, foreign or duplicate'),
    counted('Held back', counts.suppressed, 'Found, but not used in a reply'),
  ]
}

export function recallFigures({ runtime }: MemoryInsights): MemoryFigure[] {
  const { recall, embedding } = runtime
  return [
    counted('Searches', recall.queries, 'Searches for relevant memories before a turn'),
    counted('In time', recall.inTime, 'Finished before the turn started'),
    counted('Late', recall.late, 'Results used in the next turn'),
    counted('Failed', recall.failed, 'The turn continued without memories'),
    {
      name: 'Last duration',
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
  const name = 'By meaning'
  const { state, model, embedded, total } = embedding
  if (state === 'off') {
    return {
      name,
      value: 'Off',
      meaning: 'No embedding model is set, so memories are found by keywords only',
      link: { path: '/settings#model', label: 'Settings' },
    }
  }
  const value = `${countText(embedded)} of ${countText(total)}`
  if (state === 'waiting') return { name, value, meaning: failureText(embedding), tone: 'bad' }
  const by = model === null ? '' : ` by ${model}`
  if (isUnderWay(embedding)) {
    return {
      name,
      value,
      meaning: `Turns and memories embedded${by}; the rest are in progress`,
      tone: 'live',
    }
  }
  return total === 0
    ? { name, value: 'Ready', meaning: `New messages will be embedded${by}` }
    : { name, value, meaning: `All turns and memories are embedded${by}` }
}

const failures: Readonly<Record<string, string>> = {
  auth: 'rejected the key',
  quota: 'has no credit left',
  rate_limited: 'is rate limiting',
  unavailable: 'could not be reached',
  timeout: 'timed out',
  malformed: 'returned an invalid response',
  refused: 'refused the request',
  context_too_long: 'rejected the texts as too long',
}

function failureText({ model, lastFailure, retryAt }: Embedding): string {
  const failure =
    lastFailure === null
      ? 'failed'
      : (failures[lastFailure.kind] ?? `failed (${wordsText(lastFailure.kind)})`)
  const isDue = retryAt === null || Date.parse(retryAt) <= Date.now()
  const relative = isDue ? 'now' : relativeText(retryAt)
  const when = relative === 'now' ? 'soon' : relative
  return `${model ?? 'The model'} ${failure}; next retry ${when}. Until then, new texts are found by keywords only`
}
