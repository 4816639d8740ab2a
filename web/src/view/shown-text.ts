/** Control and format characters, bidirectional ones among them; emoji and some scripts need the two joiners. */
const HIDDEN = /[^\P{C}\n\t\u200c\u200d]|[\u2028\u2029]/gu

/**
 * The words that the owner is asked to confirm, with nothing in them that hides or reorders others: a character that
 * cannot be seen is shown by its number, and several blank lines are one.
 */
export function shownText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(
      HIDDEN,
      (each) => `[U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replaceAll(/\n(?:\s*\n)+/g, '\n\n')
}
