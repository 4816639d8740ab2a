/** Built once: it holds no state, and making one takes milliseconds that the call does not have. */
const words = new Intl.Segmenter(undefined, { granularity: 'word' })

/**
 * What the caller heard of a reply: the part of its text that corresponds to the part of its audio that was
 * played. The rule: speech runs at an even pace, so `heardMs` of `generatedMs` of audio is the same share of
 * the characters, and a word of which the end was not reached was not heard. Always a prefix of the text.
 */
export function heardText(generatedText: string, heardMs: number, generatedMs: number): string {
  if (heardMs >= generatedMs) return heardMs > 0 ? generatedText : ''
  if (heardMs <= 0) return ''
  const reached = Math.floor((generatedText.length * heardMs) / generatedMs)
  const word = words.segment(generatedText).containing(reached)
  return generatedText.slice(0, word ? word.index : reached).trimEnd()
}
