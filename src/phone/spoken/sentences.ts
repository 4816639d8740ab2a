/** Shared because creating a segmenter takes milliseconds. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })

/** The most text that is spoken as one piece. A longer sentence is cut between its clauses. */
const MOST_CHARS = 200

/** Full stops that end no sentence: after a short title or an initial, in "e.g.", after the number of a list. */
const GOES_ON = /(?:^|[\s(])\p{Lu}\p{L}{0,2}\.\s*$|\p{L}\.\s?\p{L}\.\s*$|^\s*\d{1,2}\.\s*$/u
const CLAUSE = /[,;:]\s|[，；：、]/gu

/**
 * Cuts a text into sentences as it arrives. A sentence is complete once the next one has begun: before that, its
 * full stop may belong to a number. The sentences together are the text.
 */
export function createSentences() {
  let rest = ''

  function take(isEnd: boolean): string[] {
    const complete: string[] = []
    let sentence = ''
    const segments = [...segmenter.segment(rest)].map(({ segment }) => segment)
    const open = isEnd ? '' : (segments.pop() ?? '')
    for (const segment of segments) {
      sentence += segment
      if (sentence.trim() === '' || GOES_ON.test(sentence)) continue
      complete.push(sentence)
      sentence = ''
    }
    rest = sentence + open
    if (isEnd && sentence.trim() !== '') complete.push(sentence)
    return complete.flatMap((each) => {
      const { pieces, end } = cutLong(each)
      return [...pieces, end]
    })
  }

  return {
    /** Returns the sentences that are complete now. */
    add(text: string): readonly string[] {
      const complete: string[] = []
      // In slices, so that the time is linear: each step reads all of `rest`, which a slice keeps short.
      for (let at = 0; at < text.length; at += MOST_CHARS) {
        rest += text.slice(at, at + MOST_CHARS)
        complete.push(...take(false))
        const { pieces, end } = cutLong(rest)
        rest = end
        complete.push(...pieces)
      }
      return complete
    },
    /** Returns what is left at the end of the text. */
    end: (): readonly string[] => take(true),
  }
}

/** Cuts a long text after its clauses, else between words, else anywhere. */
function cutLong(text: string): { readonly pieces: readonly string[]; readonly end: string } {
  const pieces: string[] = []
  let end = text
  while (end.length > MOST_CHARS) {
    const window = end.slice(0, MOST_CHARS)
    const clauses = [...window.matchAll(CLAUSE)].map((match) => match.index + match[0].length)
    const space = window.lastIndexOf(' ') + 1
    const at = clauses.at(-1) ?? (space > 0 ? space : wholeCharacters(window))
    pieces.push(end.slice(0, at))
    end = end.slice(at)
  }
  return { pieces, end }
}

/** The length of a text without half a character at its end. */
function wholeCharacters(text: string): number {
  return text.isWellFormed() ? text.length : text.length - 1
}
