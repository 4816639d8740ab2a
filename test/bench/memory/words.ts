/** Without case and accents. */
function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

function tokensOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Whether a text contains all the words, in any order, or the same letters and digits in one run. */
export function contains(text: string, words: string): boolean {
  const wanted = tokensOf(words)
  if (wanted.length === 0) return false
  const tokens = tokensOf(text)
  const present = new Set(tokens)
  if (wanted.every((word) => present.has(word))) return true
  // "wx14khb" for "WX14 KHB", but not "40" inside "1400".
  const run = wanted.join('')
  return /\d/.test(run) && run.length >= 5 && tokens.join('').includes(run)
}

/** Whether a text contains the other one literally, apart from case and punctuation. */
export function includesText(text: string, other: string): boolean {
  const wanted = tokensOf(other).join(' ')
  return wanted !== '' && ` ${tokensOf(text).join(' ')} `.includes(` ${wanted} `)
}
