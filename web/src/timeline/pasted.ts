import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import type { ModelChoice } from '../services/service-words.ts'
import { wordsOf } from './event-kinds.ts'

/** A part of a text: start and end in UTF-16 code units. */
export type PastedRange = [start: number, end: number]

/** A message while it is written. */
export type Draft = {
  readonly text: string
  readonly pasted: readonly PastedRange[]
  /** The model that answers it; absent for the one of the settings. */
  readonly model?: ModelChoice
  /** The turn of the last message, whose place it takes. */
  readonly replaces?: string
}

/** The service accepts no more; beyond that, the whole text counts as pasted. */
const maxRanges = 100

/** A message as it was sent. */
export function draftOf(message: TimelineEvent): Draft {
  const { pasted, model } = message.payload
  return {
    text: wordsOf(message),
    pasted: Array.isArray(pasted) ? pasted : [],
    ...(isModelChoice(model) ? { model } : {}),
  }
}

function isModelChoice(value: unknown): value is ModelChoice {
  return typeof value === 'object' && value !== null && 'service' in value && 'model' in value
}

/** The draft after an edit to `text`. Ranges move with their text; what the edit inserted is one if it was pasted. */
export function editDraft(draft: Draft, text: string, isPasted: boolean): Draft {
  const before = draft.text
  let start = 0
  while (start < before.length && start < text.length && before[start] === text[start]) start += 1
  let kept = 0
  while (kept < Math.min(before.length, text.length) - start && before.at(-1 - kept) === text.at(-1 - kept))
    kept += 1
  const removedEnd = before.length - kept
  const insertedEnd = text.length - kept
  const shift = insertedEnd - removedEnd
  const moved = draft.pasted.flatMap(([from, to]): PastedRange[] => [
    [from, Math.min(to, start)],
    [Math.max(from, removedEnd) + shift, to + shift],
  ])
  const inserted: PastedRange[] = isPasted ? [[start, insertedEnd]] : []
  return { ...draft, text, pasted: merge([...moved, ...inserted]) }
}

/** The draft as it is sent: without spaces around it. */
export function trimDraft(draft: Draft): Draft {
  const { text, pasted } = draft
  const trimmed = text.trim()
  const start = text.length - text.trimStart().length
  const within = (place: number) => Math.min(Math.max(0, place - start), trimmed.length)
  return { ...draft, text: trimmed, pasted: merge(pasted.map(([from, to]) => [within(from), within(to)])) }
}

/** Sorted, without empty ranges; adjacent ones become one. */
function merge(ranges: readonly PastedRange[]): PastedRange[] {
  const merged: PastedRange[] = []
  for (const [from, to] of ranges.filter(([from, to]) => from < to).sort(([a], [b]) => a - b)) {
    const last = merged.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  const end = merged.at(-1)?.[1] ?? 0
  return merged.length > maxRanges ? [[0, end]] : merged
}
