/** The figures of Memory Insights: each with what it counts, for somebody who has not read the code. */
import type { MemoryInsights } from '../data/memory-insights.ts'
import { capitalised, countText, durationText, wordsText } from './format.ts'
import { relativeText } from './relative-time.ts'

export type MemoryFigure = {
  readonly name: string
  readonly value: string
  readonly meaning: string
  /** Something is being done about it, or has to be. */
  readonly tone?: 'live' | 'bad'
  /** Where it is set. */
  readonly link?: { readonly path: string; readonly label: string }
}

export function storeFigures({ store }: MemoryInsights): MemoryFigure[] {
  return [
    { name: 'In mind', value: countText(store.total), meaning: 'May surface when they matter' },
    {
      name: 'Contested',
      value: countText(store.contested),
      meaning: 'Contradict each other; both are kept until you say which is right',
    },
    {
      name: 'Superseded',
      value: countText(store.superseded),
      meaning: 'Something newer holds in their place',
    },
    { name: 'Retired', value: countText(store.retired), meaning: 'Over, or taken back' },
    { name: 'Forgotten', value: countText(store.forgotten), meaning: 'Their words are erased' },
  ]
}

export function kindFigures({ store }: MemoryInsights): MemoryFigure[] {
  return store.kinds.map(({ kind, count }) => ({
    name: capitalised(wordsText(kind)),
    value: countText(count),
    meaning: '',
  }))
}

export function deduplicationFigures({ deduplication: counts }: MemoryInsights): MemoryFigure[] {
  return [
    { name: 'Candidates', value: countText(counts.candidates), meaning: 'Statements that were considered' },
    { name: 'New', value: countText(counts.inserted), meaning: 'Kept as something not known before' },
    { name: 'Reinforced', value: countText(counts.reinforced), meaning: 'Known already: made stronger' },
    { name: 'Merged', value: countText(counts.merged), meaning: 'Made a known one more exact' },
    {
      name: 'Discarded',
      value: countText(counts.discarded),
      meaning: 'Not kept: unsure, foreign or doubled',
    },
    { name: 'Held back', value: countText(counts.suppressed), meaning: 'Found, and not given to a reply' },
  ]
}

export function recallFigures({ recall, embedding }: MemoryInsights, now: Date): MemoryFigure[] {
  return [
    {
      name: 'Looked for',
      value: countText(recall.queries),
      meaning: 'Before a turn, for what matters to it',
    },
    { name: 'In time', value: countText(recall.inTime), meaning: 'Found before the turn began' },
    { name: 'Late', value: countText(recall.late), meaning: 'Staged for the next turn' },
    { name: 'Failed', value: countText(recall.failed), meaning: 'The turn went on without' },
    {
      name: 'The latest took',
      value: recall.lastDurationMs === null ? '–' : durationText(recall.lastDurationMs),
      meaning: '',
    },
    embeddingFigure(embedding, now),
  ]
}

/** Whether vectors are being made, or will be in a moment. */
export function isUnderWay({ state, embedded, total }: MemoryInsights['embedding']): boolean {
  return state === 'embedding' || (state === 'up_to_date' && embedded < total)
}

/** How recall by meaning stands. */
function embeddingFigure(embedding: MemoryInsights['embedding'], now: Date): MemoryFigure {
  const name = 'By meaning'
  const { state, model, embedded, total } = embedding
  if (state === 'off') {
    return {
      name,
      value: 'Off',
      meaning: 'No embedding model is named: what is recalled is found by its words',
      link: { path: '/settings#model', label: 'Settings' },
    }
  }
  const value = `${countText(embedded)} of ${countText(total)}`
  if (state === 'waiting') return { name, value, meaning: failureText(embedding, now), tone: 'bad' }
  const by = model === null ? '' : ` by ${model}`
  if (isUnderWay(embedding)) {
    return { name, value, meaning: `Turns and memories read${by}; the others follow now`, tone: 'live' }
  }
  return total === 0
    ? { name, value: 'Ready', meaning: `What is said next will be read${by}` }
    : { name, value, meaning: `Every turn and memory has been read${by}` }
}

const failures: Readonly<Record<string, string>> = {
  auth: 'refused the key',
  quota: 'has no credit left',
  rate_limited: 'was asked too often',
  unavailable: 'could not be reached',
  timeout: 'took too long',
  malformed: 'gave an answer that makes no sense',
  refused: 'refused',
  context_too_long: 'found the texts too long',
}

function failureText({ model, lastFailure, retryAt }: MemoryInsights['embedding'], now: Date): string {
  const what =
    lastFailure === null
      ? 'failed'
      : (failures[lastFailure.kind] ?? `failed (${wordsText(lastFailure.kind)})`)
  const isDue = retryAt === null || Date.parse(retryAt) <= now.getTime()
  const again = isDue ? 'now' : relativeText(retryAt, now)
  return `${model ?? 'The model'} ${what}; it is tried again ${again === 'now' ? 'in a moment' : again}. Until then what is new is found by its words alone`
}
