import hljs from 'highlight.js/lib/common'
import { Marked } from 'marked'
import sanitize from 'sanitize-html'
import { escapeHtml } from './escape-html.ts'

/** A longer block of code is shown as it is: colouring costs more than it helps. */
const MAX_HIGHLIGHTED_CHARS = 50_000

const LONG_CELL_CHARS = 32

const TAGS = [
  ...['p', 'br', 'hr', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'li', 'pre', 'code', 'span'],
  ...['em', 'strong', 'del', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
]

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // The first gate: what somebody wrote as HTML is shown as text.
    html: ({ text }) => escapeHtml(text),
    // Nothing that somebody wrote may make a page fetch anything.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    // The page has a first heading of its own.
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 1)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
    },
    // A sentence beside wide columns is not to stand one word a line.
    tablecell({ tokens, text, header, align }) {
      const name = header ? 'th' : 'td'
      const attributes = `${align ? ` align="${align}"` : ''}${text.length > LONG_CELL_CHARS ? ' class="long"' : ''}`
      return `<${name}${attributes}>${this.parser.parseInline(tokens)}</${name}>\n`
    },
    code({ text, lang }) {
      const language = lang?.match(/^[\w+#-]+/)?.[0]?.toLowerCase() ?? ''
      const known = text.length <= MAX_HIGHLIGHTED_CHARS && hljs.getLanguage(language) !== undefined
      const inner = known ? hljs.highlight(text, { language, ignoreIllegals: true }).value : escapeHtml(text)
      return `<pre><code>${inner}</code></pre>\n`
    },
  },
})

/**
 * Markdown as inert HTML. Two gates, each enough alone: the renderer shows raw HTML as text and makes no image, and
 * the sanitiser knows a short list of elements, attributes and schemes. Synchronous, and slow for what was made to
 * be: callers with a loop to keep free use `createNoteRenderer`.
 */
export function renderMarkdown(source: string): string {
  return sanitize(marked.parse(source, { async: false }), {
    allowedTags: TAGS,
    allowedAttributes: {
      a: ['href', 'title', 'rel', 'target'],
      ol: ['start', 'dir'],
      ul: ['dir'],
      blockquote: ['dir'],
      th: ['align'],
      td: ['align'],
      pre: ['tabindex'],
      table: ['tabindex', 'dir'],
    },
    allowedClasses: { td: ['long'], th: ['long'], span: ['hljs-*', 'function_', 'class_', 'inherited__'] },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowProtocolRelative: false,
    disallowedTagsMode: 'escape',
    transformTags: {
      a: (tagName, attribs) => ({ tagName, attribs: linkOf(attribs) }),
      // What can scroll sideways must be reachable without a pointer.
      pre: (tagName) => ({ tagName, attribs: { tabindex: '0' } }),
      table: (tagName) => ({ tagName, attribs: { tabindex: '0', dir: 'auto' } }),
      // Where its marks or its bar stand.
      ul: (tagName) => ({ tagName, attribs: { dir: 'auto' } }),
      ol: (tagName, attribs) => ({ tagName, attribs: { ...attribs, dir: 'auto' } }),
      blockquote: (tagName) => ({ tagName, attribs: { dir: 'auto' } }),
    },
  })
}

/** A link within the service stays; one elsewhere opens apart and tells nothing; anything else leads nowhere. */
function linkOf({ href = '', title }: Readonly<Record<string, string>>): Record<string, string> {
  const named: Record<string, string> = title === undefined ? {} : { title }
  if (/^\/(?![/\\])/.test(href)) return { href, ...named }
  if (!/^(?:https?:\/\/|mailto:|tel:)/i.test(href)) return named
  return { href, ...named, target: '_blank', rel: 'noopener noreferrer nofollow' }
}
