import DOMPurify from 'dompurify'
import { Marked, type TokenizerAndRendererExtension } from 'marked'

/**
 * Renders markdown to inert elements. Two independent safeguards: the renderer shows raw HTML as text, and
 * the sanitiser allows few elements. Images become links, so that no content makes the page fetch a URL.
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

/** Shows the formulas `\(a^2\)` and `\[a^2\]` as written; markdown would drop their backslashes. */
const formula: TokenizerAndRendererExtension = {
  name: 'formula',
  level: 'inline',
  start: (source) => source.search(/\\[([]/),
  tokenizer(source) {
    // Stops at the next opening delimiter, so that many unclosed formulas stay cheap.
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
    // Horizontally scrollable elements must be reachable by keyboard.
    if (element.tagName === 'PRE' || element.tagName === 'TABLE') element.setAttribute('tabindex', '0')
    // Keeps long cells beside wide columns from shrinking to one word per line.
    if (/^T[HD]$/.test(element.tagName) && (element.textContent ?? '').length > longCellChars) {
      element.setAttribute('class', 'long')
    }
    // Places list markers, the quote bar and the first column on the side where the text starts.
    if (/^(?:UL|OL|BLOCKQUOTE|TABLE)$/.test(element.tagName)) element.setAttribute('dir', 'auto')
    if (element.tagName !== 'A') return
    element.setAttribute('target', '_blank')
    element.setAttribute('rel', 'noopener noreferrer nofollow')
  })
  return (source) =>
    purify.sanitize(marked.parse(source, { async: false }), {
      ALLOWED_TAGS: allowedTags,
      ALLOWED_ATTR: ['href', 'title', 'start', 'align'],
      // Without this the sanitiser checks them against the URL pattern and drops them.
      ADD_URI_SAFE_ATTR: ['start', 'align'],
      ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|tel:|\/(?!\/))/i,
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      RETURN_DOM_FRAGMENT: true,
    })
}
