/** Maximum length of a note, in code points. */
export const MAX_NOTE_CHARS = 1_000_000

/** Whether a text has at most `chars` code points. Instant if its UTF-16 length is within the limit. */
export function hasAtMost(text: string, chars: number): boolean {
  return text.length <= chars || text.length - (text.match(/[\u{10000}-\u{10ffff}]/gu)?.length ?? 0) <= chars
}
