import hljs from 'highlight.js/lib/common'
import { Marked } from 'marked'
import sanitize from 'sanitize-html'
import { escapeHtml } from '../text/escape-html.ts'
import { formulaSource, formulas } from '../text/formula.ts'
import { mathAttributes, mathTags, renderFormula } from '../text/mathml.ts'

/** Longer code blocks are not highlighted, to bound the cost. */
const MAX_HIGHLIGHTED_CHARS = 50_000

const LONG_CELL_CHARS = 32

const TAGS = [
  ...['p', 'br', 'hr', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'li', 'pre', 'code', 'span'],
  ...['em', 'strong', 'del', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
]

const marked = new Marked({
  gfm: true,
  breaks: true,
  extensions: formulas(formulaHtml),
  renderer: {
    // First line of defence: raw HTML is shown as text.
    html: ({ text }) => escapeHtml(text),
    // Content must not make the page fetch anything, so images become links.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    listitem({ task, tokens }) {
      return `<li${task ? ' class="task"' : ''}>${this.parser.parse(tokens)}</li>\n`
    },
    // The page has its own h1.
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 1)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
    },
    // Gives long text a minimum width next to wide columns.
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
 * Renders markdown to inert HTML. Two independent defences: the renderer escapes raw HTML and emits no
 * images, and the sanitiser allows a short list of elements, attributes and schemes. Synchronous, and slow
 * for malicious input: use `createNoteRenderer` on the event loop.
 */
export function renderMarkdown(source: string): string {
  return sanitize(marked.parse(source, { async: false }), {
    allowedTags: [...TAGS, ...mathTags],
    allowedAttributes: {
      ...Object.fromEntries(mathTags.map((tag) => [tag, mathAttributes])),
      span: ['tabindex'],
      a: ['href', 'title', 'rel', 'target'],
      ol: ['start', 'dir'],
      ul: ['dir'],
      blockquote: ['dir'],
      th: ['align'],
      td: ['align'],
      pre: ['tabindex'],
      table: ['tabindex', 'dir'],
    },
    allowedClasses: {
      li: ['task'],
      td: ['long'],
      th: ['long'],
      span: ['hljs-*', 'function_', 'class_', 'inherited__', 'math', 'wide'],
    },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowProtocolRelative: false,
    disallowedTagsMode: 'escape',
    transformTags: {
      a: (tagName, attribs) => ({ tagName, attribs: linkOf(attribs) }),
      // Elements that scroll horizontally must be reachable by keyboard.
      pre: (tagName) => ({ tagName, attribs: { tabindex: '0' } }),
      table: (tagName) => ({ tagName, attribs: { tabindex: '0', dir: 'auto' } }),
      // `dir` also places list markers and the quotation bar.
      ul: (tagName) => ({ tagName, attribs: { dir: 'auto' } }),
      ol: (tagName, attribs) => ({ tagName, attribs: { ...attribs, dir: 'auto' } }),
      blockquote: (tagName) => ({ tagName, attribs: { dir: 'auto' } }),
    },
  })
}

function formulaHtml(raw: string): string {
  const formula = renderFormula(raw)
  if (!formula) return formulaSource(raw)
  // Elements that scroll horizontally must be reachable by keyboard.
  return `<span class="math${formula.isWide ? ' wide" tabindex="0' : ''}">${formula.mathml}</span>`
}

/** Keeps internal links, opens external ones in a new tab without a referrer, and drops all others. */
function linkOf({ href = '', title }: Readonly<Record<string, string>>): Record<string, string> {
  const named: Record<string, string> = title === undefined ? {} : { title }
  if (/^\/(?![/\\])/.test(href)) return { href, ...named }
  if (!/^(?:https?:\/\/|mailto:|tel:)/i.test(href)) return named
  return { href, ...named, target: '_blank', rel: 'noopener noreferrer nofollow' }
}
