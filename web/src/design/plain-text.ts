/**
 * Markdown as one line of plain text, with a dot between lines. Tasks keep their checkbox; other markup and
 * repeated lines are removed.
 */
export function plainWords(markdown: string): string {
  const lines = markdown
    .replaceAll(/^```.*$/gm, '')
    .replaceAll(/^[ \t]*[-+*][ \t]+\[[xX]\](?:[ \t]+|$)/gm, '☑ ')
    .replaceAll(/^[ \t]*[-+*][ \t]+\[ \](?:[ \t]+|$)/gm, '☐ ')
    .replaceAll(/^[ \t]*(?:#{1,6}|>|[-+*]|\d+\.)(?:[ \t]+|$)/gm, '')
    // Not between two letters or alone: snake_case, 2 * 3.
    .replaceAll(/(?<![\p{L}\p{N}])[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?![\p{L}\p{N}])/gu, '')
    .replaceAll('`', '')
    .replaceAll(/!?\[([^[\]]*)\]\([^)[]*\)/g, '$1')
    // An excerpt may end within a URL.
    .replaceAll(/!?\[([^[\]]*)\]\([^)[]*$/g, '$1…')
    .split(/\n+/)
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
  return lines.filter((line, index) => line !== lines[index - 1]).join(' · ')
}

/** The start of a note as plain text, without its title and its code blocks. */
export function noteSummary(excerpt: string, title: string): string {
  // An excerpt may end within a code block.
  const words = plainWords(excerpt.replaceAll(/^```[\s\S]*?(?:^```|(?![\s\S]))/gm, ''))
  const start = title.replace(/…$/, '')
  return words.startsWith(start) ? words.slice(start.length).replace(/^ ·/, '').trim() : words
}
