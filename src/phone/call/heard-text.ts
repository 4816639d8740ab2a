/** Shared because creating a segmenter takes milliseconds. */
const words = new Intl.Segmenter(undefined, { granularity: 'word' })

/**
 * The part of a reply that the caller heard: a prefix of `generatedText` that ends at a word boundary.
 * Assumes an even pace of speech, so `heardMs / generatedMs` is the share of characters heard. A word that
 * was cut off counts as not heard.
 */
export function heardText(generatedText: string, heardMs: number, generatedMs: number): string {
  if (heardMs >= generatedMs) return heardMs > 0 ? generatedText : ''
  if (heardMs <= 0) return ''
  const reached = Math.floor((generatedText.length * heardMs) / generatedMs)
  const word = words.segment(generatedText).containing(reached)
  return generatedText.slice(0, word ? word.index : reached).trimEnd()
}
