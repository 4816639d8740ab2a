import type { AnyEvent } from '../../ledger/reader.ts'
import { normalizeText } from '../../projections/normalize-text.ts'

const WORD = /[\p{L}\p{N}\p{M}]{3,}/gu

/** English words that any two texts share: they prove nothing. Of other languages, the same by length alone. */
const COMMON = new Set(
  `about after all also and any are because been before but can could did does for from get got had has have her here him
  his how into its just know let like made make may more most much must name need new not note now off one only other our
  out over own please said say see set she should some something such than that the their them then there these they
  thing things this those time timer told too two under until upon use very want was way well were what when where which
  while who will with would yes you your`.split(/\s+/),
)

/** The words of a text that say something. */
function tellingWords(text: string): Set<string> {
  const words = normalizeText(text, 'NFC').toLowerCase().match(WORD) ?? []
  return new Set(words.filter((word) => !COMMON.has(word)))
}

/** All strings of an event's body. */
function wordsOf(event: AnyEvent): string {
  if (event.type === 'unknown' || !event.body) return ''
  return Object.values(event.body)
    .filter((value) => typeof value === 'string')
    .join('\n')
}

/**
 * Which of the facts that a model was given a text of its own derives from: those with which it shares a telling
 * word. A model is given far more than it uses, and erasing one memory must not take with it every note, timer and
 * reply of the turns in which it merely lay beside.
 */
export function sourcesOf(text: string, given: readonly AnyEvent[]): number[] {
  const words = tellingWords(text)
  return given
    .filter((event) => [...tellingWords(wordsOf(event))].some((word) => words.has(word)))
    .map(({ seq }) => seq)
}
