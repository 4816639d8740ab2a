const LONG_SPACE = /\s{9,}/gu
const KEPT = 4

/** A text with its long stretches of space shortened, and where each of its positions was before. */
export type Shortened = { readonly text: string; readonly placeOf: (index: number) => number }

/**
 * Shortens stretches of space that no pattern needs whole: one that may let several of its parts take any of it would
 * try every way to share it out, which takes seconds for a thousand spaces. Whether there is a line end in it stays.
 */
export function shortenSpaces(text: string): Shortened {
  const cuts: { readonly from: number; readonly dropped: number }[] = []
  let dropped = 0
  const shortened = text.replace(LONG_SPACE, (space: string, at: number) => {
    const middle = space.slice(KEPT, -KEPT)
    const lineEnd = middle.indexOf('\n')
    const start = at - dropped + KEPT
    const kept = lineEnd < 0 ? '' : '\n'
    if (lineEnd >= 0) cuts.push({ from: start, dropped: dropped + lineEnd })
    dropped += middle.length - kept.length
    cuts.push({ from: start + kept.length, dropped })
    return space.slice(0, KEPT) + kept + space.slice(-KEPT)
  })
  return {
    text: shortened,
    placeOf: (index) => index + (cuts.findLast(({ from }) => from <= index)?.dropped ?? 0),
  }
}
