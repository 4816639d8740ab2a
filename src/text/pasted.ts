import type { EventOf } from '../../ledger/event.ts'

/** A message as the owner typed it: a note takes the place of each pasted part. Empty if the message is erased. */
export function typedWords({
  facts,
  body,
}: Pick<EventOf<'chat.message.received'>, 'facts' | 'body'>): string {
  const text = body?.text ?? ''
  let typed = ''
  let at = 0
  for (const [start, end] of [...(facts.pasted ?? [])].sort(([a], [b]) => a - b)) {
    const from = Math.max(at, start)
    if (end <= from || from >= text.length) continue
    typed += `${text.slice(at, from)}[pasted text, ${Math.min(end, text.length) - from} characters]`
    at = end
  }
  return typed + text.slice(at)
}

/** Start and end of each pasted part of a text, in UTF-16 code units. */
export type PastedRanges = NonNullable<EventOf<'chat.message.received'>['facts']['pasted']>

/** The ledger takes no more; beyond that, everything up to the last one counts as pasted. */
const MAX_RANGES = 100

/**
 * The pasted parts of `text`, which was made from an earlier message. Beside those that the client reports, they are
 * those of the earlier message that still stand, and whatever stands where one of them was changed: nothing that
 * somebody else wrote becomes the owner's by editing.
 */
export function pastedAfterEdit(
  earlier: { readonly text: string; readonly pasted: PastedRanges },
  text: string,
  reported: PastedRanges,
): PastedRanges {
  const before = earlier.text
  const most = Math.min(before.length, text.length)
  let start = 0
  while (start < most && before[start] === text[start]) start += 1
  let kept = 0
  while (kept < most - start && before.at(-1 - kept) === text.at(-1 - kept)) kept += 1
  const removedEnd = before.length - kept
  const insertedEnd = text.length - kept
  const shift = insertedEnd - removedEnd
  const carried = earlier.pasted.flatMap(
    ([from, to]): PastedRanges => [
      [from, Math.min(to, start)],
      ...(from < removedEnd && to > start ? [[start, insertedEnd] satisfies [number, number]] : []),
      [Math.max(from, removedEnd) + shift, to + shift],
    ],
  )
  return merged([...carried, ...reported])
}

/** Sorted, without empty and overlapping ranges. */
function merged(ranges: PastedRanges): PastedRanges {
  const result: PastedRanges = []
  for (const [from, to] of ranges.filter(([from, to]) => from < to).sort(([a], [b]) => a - b)) {
    const last = result.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result.length > MAX_RANGES ? [[0, result.at(-1)?.[1] ?? 0]] : result
}
