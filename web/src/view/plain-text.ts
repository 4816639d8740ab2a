/**
 * Markdown as one line of plain words: tasks keep their box, everything else loses its marks; what stood on lines of
 * its own is parted by a dot. A line that only repeats the one before it, as a title does, is said once.
 */
export function plainWords(markdown: string): string {
  const lines = markdown
    .replaceAll(/^```.*$/gm, '')
    .replaceAll(/^[ \t]*[-+*][ \t]+\[[xX]\](?:[ \t]+|$)/gm, '☑ ')
    .replaceAll(/^[ \t]*[-+*][ \t]+\[ \](?:[ \t]+|$)/gm, '☐ ')
    .replaceAll(/^[ \t]*(?:#{1,6}|>|[-+*]|\d+\.)(?:[ \t]+|$)/gm, '')
    // Between two letters, or alone, it is no mark: snake_case, 2 * 3.
    .replaceAll(/(?<![\p{L}\p{N}])[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?![\p{L}\p{N}])/gu, '')
    .replaceAll('`', '')
    .replaceAll(/!?\[([^[\]]*)\]\([^)[]*\)/g, '$1')
    // An excerpt may end within an address.
    .replaceAll(/!?\[([^[\]]*)\]\([^)[]*$/g, '$1…')
    .split(/\n+/)
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
  return lines.filter((line, index) => line !== lines[index - 1]).join(' · ')
}

/** The beginning of a note in plain words, without its title and without what a program says: that is no summary. */
export function noteSummary(excerpt: string, title: string): string {
  // The end of a block of code may be cut off.
  const words = plainWords(excerpt.replaceAll(/^```[\s\S]*?(?:^```|(?![\s\S]))/gm, ''))
  const said = title.replace(/…$/, '')
  return words.startsWith(said) ? words.slice(said.length).replace(/^ ·/, '').trim() : words
}
