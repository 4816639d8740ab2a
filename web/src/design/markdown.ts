import DOMPurify from 'dompurify'
import { Marked, type TokenizerAndRendererExtension } from 'marked'
import { escapeHtml } from '../../../src/text/escape-html.ts'
import { formulaSource, formulas } from '../../../src/text/formula.ts'
import { msg } from './msg.ts'

/**
 * Renders markdown to inert elements. Two independent safeguards: the renderer shows raw HTML as text, and
 * the sanitiser allows few elements. Images become links, so that no content makes the page fetch a URL.
 * Text that is nested too deeply to parse, and words of over 2,000 characters, are shown unrendered.
 */
export type RenderMarkdown = (source: string) => DocumentFragment

const allowedTags = [
  ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'li', 'pre', 'code'],
  ...['em', 'strong', 'del', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'span'],
]

/** The only classes that markdown brings along: of formulas, of code in a known language, and of items with a checkbox. */
const allowedClasses: Readonly<Record<string, RegExp>> = {
  SPAN: /^math$/,
  CODE: /^language-[\w+#-]+$/,
  LI: /^task$/,
}

const longCellChars = 32

const maxWordChars = 2_000

/**
 * A long word as it is written: marked looks for an address at every place of it, which takes minutes for 100,000
 * characters, and each time that a reply grows.
 */
const longWord: TokenizerAndRendererExtension = {
  name: 'longWord',
  level: 'inline',
  tokenizer(source) {
    const end = source.search(/\s/)
    const raw = end < 0 ? source : source.slice(0, end)
    return raw.length > maxWordChars ? { type: 'text', raw, text: raw } : undefined
  },
}

/** Code that is loaded with the first text that needs it. Runs at once when it is loaded. */
function onDemand<Loaded>(load: () => Promise<Loaded>): (use: (loaded: Loaded) => void) => void {
  let loaded: Loaded | null = null
  return (use) => {
    if (loaded) return use(loaded)
    load().then(
      (module) => {
        loaded = module
        use(module)
      },
      // The text stays as written until the next one tries again.
      () => undefined,
    )
  }
}

const withFormulas = onDemand(() => import('./render-formula.ts'))
const withHighlighting = onDemand(() => import('./highlight.ts'))

/** Renders the formulas, colours the code, and gives each code block a button that copies it. */
function finish(fragment: DocumentFragment, copy: (code: string) => void): void {
  const maths = [...fragment.querySelectorAll('.math')]
  if (maths.length > 0) withFormulas(({ showFormula }) => maths.forEach(showFormula))
  const codes = [...fragment.querySelectorAll('code[class]')]
  if (codes.length > 0) withHighlighting(({ highlight }) => codes.forEach(highlight))
  for (const pre of fragment.querySelectorAll('pre')) {
    const block = document.createElement('div')
    block.className = 'code'
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button small'
    button.textContent = msg`Copy`
    button.setAttribute('aria-label', msg`Copy code`)
    button.addEventListener('click', () => copy((pre.textContent ?? '').replace(/\n$/, '')))
    pre.replaceWith(block)
    block.append(pre, button)
  }
}

/** `copy` puts code on the clipboard. */
export function createMarkdown(copy: (code: string) => void): RenderMarkdown {
  const marked = new Marked({
    gfm: true,
    breaks: true,
    extensions: [...formulas(formulaSource), longWord],
    renderer: {
      html: ({ text }) => escapeHtml(text),
      image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
      listitem({ task, tokens }) {
        return `<li${task ? ' class="task"' : ''}>${this.parser.parse(tokens)}</li>\n`
      },
    },
  })
  const purify = DOMPurify(window)
  purify.addHook('uponSanitizeAttribute', ({ tagName }, attribute) => {
    if (attribute.attrName === 'class')
      attribute.keepAttr = allowedClasses[tagName]?.test(attribute.attrValue) === true
  })
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
  function htmlOf(source: string): string {
    try {
      return marked.parse(source, { async: false })
    } catch {
      // Deep nesting overflows the stack. One such text must not break the whole list.
      return `<pre>${escapeHtml(source)}</pre>`
    }
  }
  return (source) => {
    const fragment = purify.sanitize(htmlOf(source), {
      ALLOWED_TAGS: allowedTags,
      ALLOWED_ATTR: ['href', 'title', 'start', 'align', 'class'],
      // Without this the sanitiser checks them against the URL pattern and drops them.
      ADD_URI_SAFE_ATTR: ['start', 'align', 'class'],
      ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|tel:|\/(?!\/))/i,
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      RETURN_DOM_FRAGMENT: true,
    })
    finish(fragment, copy)
    return fragment
  }
}
