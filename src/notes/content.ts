/** Maximum length of a note, in code points. */
export const MAX_NOTE_CHARS = 1_000_000

/** Whether a text has at most `chars` code points. Instant if its UTF-16 length is within the limit. */
export function hasAtMost(text: string, chars: number): boolean {
  if (text.length <= chars) return true
  let pairs = 0
  for (let at = 0; at < text.length - 1; at += 1) {
    const code = text.codePointAt(at) ?? 0
    if (code <= 0xffff) continue
    pairs += 1
    at += 1
  }
  return text.length - pairs <= chars
}
