const LINK = /\[([^[\]\n]{1,300})\]\(([^()\s]{1,2000})\)/g
const EMPHASIS = /(\*\*|__|`)(?=\S)([^*_`\n]{1,300})\1/g
const HEADING = /^#{1,6} (?=\S)/gm
const MARKS = /[*_`]+/g

/** Markdown for a text: the words, and the addresses of links to other sites, which can be tapped. */
export function texted(markdown: string): string {
  const text = markdown
    .replace(LINK, (_, words: string, address: string) =>
      address.startsWith('/') || words === address ? words : `${words} (${address})`,
    )
    .replace(EMPHASIS, '$2')
    .replace(HEADING, '')
  return sevenBit(text)
}

/** Plain quotes, dashes and spaces: one curly quote more than halves the capacity of a segment. */
export const sevenBit = (text: string): string =>
  text
    .replace(/[‘’‚‛]/g, "'")
    .replace(/[“”„‟]/g, '"')
    .replace(/[‐‑‒–—]/g, '-')
    .replace(/…/g, '...')
    .replace(/[\u00a0\u202f]/g, ' ')

/** Markdown for a voice: the words, without the marks, which some voices would read out. */
export function voiced(markdown: string): string {
  return markdown.replace(LINK, '$1').replace(HEADING, '').replace(MARKS, '')
}
