import type { TokenizerAndRendererExtension } from 'marked'
import { escapeHtml } from './escape-html.ts'

/**
 * Finds formulas in markdown: `$…$` and `\(…\)` in a line, `$$…$$` and `\[…\]` on their own. `toHtml` gets each with
 * its delimiters. Each pattern stops at the next opening delimiter, so that many unclosed formulas stay cheap.
 */
export const formulas = (toHtml: (raw: string) => string): TokenizerAndRendererExtension[] => [
  {
    name: 'displayed',
    level: 'block',
    // Only if it ends: marked cuts the paragraph there, which takes as long as the paragraph is.
    start(source) {
      const at = source.search(/^ {0,3}(?:\$\$|\\\[)/m)
      return at >= 0 && displayed.test(source.slice(at)) ? at : undefined
    },
    tokenizer(source) {
      const raw = displayed.exec(source)?.[0]
      return raw === undefined ? undefined : { type: 'displayed', raw }
    },
    renderer: ({ raw }) => `<p>${toHtml(raw.trim())}</p>\n`,
  },
  {
    name: 'formula',
    level: 'inline',
    start: (source) => source.search(/\$|\\[([]/),
    tokenizer(source, tokens) {
      const raw = delimited.exec(source)?.[0] ?? dollars(source, tokens.at(-1)?.raw ?? '')
      return raw === undefined ? undefined : { type: 'formula', raw }
    },
    renderer: ({ raw }) => toHtml(raw),
  },
]

const displayed = /^ {0,3}(?:\$\$(?:[^\\$]|\\[\s\S])+\$\$|\\\[(?:[^\\]|\\[^[\]])*\\\])[ \t]*(?:\n+|$)/

const delimited =
  /^(?:\\\((?:[^\\\n]|\\[^()\n])*\\\)|\\\[(?:[^\\]|\\[^[\]])*\\\]|\$\$(?:[^\\$]|\\[\s\S])+\$\$)/

/** `$…$`, unless the dollars are those of prices, variables of a shell, or quoted. */
function dollars(source: string, before: string): string | undefined {
  if (/[\w$]$/.test(before)) return undefined
  const raw = /^\$(?![\s$'"])(?:[^\\$`\n]|\\[^\n])+\$(?!\w)/.exec(source)?.[0]
  if (raw === undefined || /\s\$$/.test(raw)) return undefined
  // "$5 for tea or 10$": an amount before a word.
  return /^\$\d[\d.,]*\s+[a-z]{2}/i.test(raw) ? undefined : raw
}

/** The source of a formula, as it is written. */
export function formulaSource(raw: string): string {
  return `<span class="math">${escapeHtml(raw)}</span>`
}

/** The TeX of a formula with its delimiters, and whether it stands on its own. */
export function texOf(raw: string): { readonly tex: string; readonly isDisplayed: boolean } {
  const size = /^\$(?!\$)/.test(raw) ? 1 : 2
  return { tex: raw.slice(size, -size), isDisplayed: /^(?:\$\$|\\\[)/.test(raw) }
}
