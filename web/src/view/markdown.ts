import DOMPurify from 'dompurify'
import { Marked, type TokenizerAndRendererExtension } from 'marked'

/**
 * Markdown to inert elements. Two gates, each enough alone: raw HTML in the source is shown as text by the
 * renderer, and what the renderer makes goes through the sanitiser with a short list of allowed elements. Images
 * become links: nothing that somebody wrote may make this page fetch anything.
 */
export type RenderMarkdown = (source: string) => DocumentFragment

const allowedTags = [
  ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'li', 'pre', 'code'],
  ...['em', 'strong', 'del', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
]

const longCellChars = 32

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** `\(a^2\)` and `\[a^2\]` are formulas: shown as written, where markdown would take their backslashes for escapes. */
const formula: TokenizerAndRendererExtension = {
  name: 'formula',
  level: 'inline',
  start: (source) => source.search(/\\[([]/),
  tokenizer(source) {
    // Ends at the next beginning at the latest, so that many of them without an end stay cheap.
    const raw = /^\\(?:\((?:[^\\\n]|\\[^()\n])*\\\)|\[(?:[^\\]|\\[^[\]])*\\\])/.exec(source)?.[0]
    return raw === undefined ? undefined : { type: 'formula', raw }
  },
  renderer: ({ raw }) => escapeHtml(raw),
}

export function createMarkdown(): RenderMarkdown {
  const marked = new Marked({
    gfm: true,
    breaks: true,
    extensions: [formula],
    renderer: {
      html: ({ text }) => escapeHtml(text),
      image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    },
  })
  const purify = DOMPurify(window)
  purify.addHook('afterSanitizeAttributes', (element) => {
    // What can scroll sideways must be reachable without a pointer.
    if (element.tagName === 'PRE' || element.tagName === 'TABLE') element.setAttribute('tabindex', '0')
    // A sentence beside wide columns is not to stand one word a line.
    if (/^T[HD]$/.test(element.tagName) && (element.textContent ?? '').length > longCellChars) {
      element.setAttribute('class', 'long')
    }
    // Where its marks, its bar or its first column stand.
    if (/^(?:UL|OL|BLOCKQUOTE|TABLE)$/.test(element.tagName)) element.setAttribute('dir', 'auto')
    if (element.tagName !== 'A') return
    element.setAttribute('target', '_blank')
    element.setAttribute('rel', 'noopener noreferrer nofollow')
  })
  return (source) =>
    purify.sanitize(marked.parse(source, { async: false }), {
      ALLOWED_TAGS: allowedTags,
      ALLOWED_ATTR: ['href', 'title', 'start', 'align'],
      // They hold no address: without this the sanitiser holds them to the pattern of one, and drops them.
      ADD_URI_SAFE_ATTR: ['start', 'align'],
      ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|tel:|\/(?!\/))/i,
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      RETURN_DOM_FRAGMENT: true,
    })
}
