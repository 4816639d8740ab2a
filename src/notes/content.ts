import * as z from 'zod'

/** Characters (code points) that a note may have; what a reader would count, not what UTF-16 takes for them. */
export const MAX_NOTE_CHARS = 1_000_000

/** What a note may hold. */
export const noteContentSchema = z
  .string()
  .min(1)
  // Two units of UTF-16 a character at most, so longer ones need no counting.
  .max(2 * MAX_NOTE_CHARS)
  .refine((text) => hasAtMost(text, MAX_NOTE_CHARS), `Too long: at most ${MAX_NOTE_CHARS} characters`)

/** Whether a text has at most so many characters. Linear, and cheap where its length in UTF-16 says so already. */
function hasAtMost(text: string, chars: number): boolean {
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
