/** Control and format characters. The joiners stay, because emoji and some scripts need them. */
const HIDDEN = /[^\P{C}\n\t\u200c\u200d]|[\u2028\u2029]/gu

/**
 * Text for the owner to confirm, with nothing that hides or reorders parts of it. Invisible characters become
 * `[U+202E]`, and consecutive blank lines become one.
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
