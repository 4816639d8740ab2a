import DOMPurify from 'dompurify'
import katex from 'katex'
import { texOf } from './formula.ts'

/** Longer formulas stay source, to bound the cost. */
const maxChars = 4000
/** The largest size that a formula can ask for, so that it cannot cover the page. */
const maxSizeEm = 20
/** A longer formula in a line gets a line of its own, where it can scroll. */
const longChars = 24

/** All that KaTeX writes, without `style`, `class` and what needs its trust: links, images and HTML. */
const tags = [
  ...[
    'math',
    'semantics',
    'annotation',
    'mtext',
    'mn',
    'mo',
    'mi',
    'mspace',
    'mover',
    'munder',
    'munderover',
  ],
  ...['msup', 'msub', 'msubsup', 'mfrac', 'mroot', 'msqrt', 'mtable', 'mtr', 'mtd', 'mlabeledtr', 'mrow'],
  ...['menclose', 'mstyle', 'mpadded', 'mphantom'],
]
const attributes = [
  ...[
    'accent',
    'accentunder',
    'columnalign',
    'columnlines',
    'columnspacing',
    'depth',
    'display',
    'displaystyle',
  ],
  ...['encoding', 'fence', 'height', 'largeop', 'linebreak', 'linethickness', 'lspace', 'mathbackground'],
  ...[
    'mathcolor',
    'mathsize',
    'mathvariant',
    'maxsize',
    'minsize',
    'notation',
    'rowlines',
    'rowspacing',
    'rspace',
  ],
  ...['scriptlevel', 'separator', 'stretchy', 'valign', 'voffset', 'width'],
]

const purify = DOMPurify(window)

/** Replaces the source of a formula in `span.math` with MathML. A formula with a mistake stays as written. */
export function renderFormula(element: Element): void {
  const raw = element.textContent ?? ''
  if (raw.length > maxChars) return
  const { tex, isDisplayed } = texOf(raw)
  const html = mathmlOf(tex, isDisplayed)
  if (html === null) return
  element.replaceChildren(
    purify.sanitize(html, {
      ALLOWED_TAGS: tags,
      ALLOWED_ATTR: attributes,
      // None of them holds a URL. Without this the sanitiser checks them against the URL pattern and drops them.
      ADD_URI_SAFE_ATTR: attributes,
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      RETURN_DOM_FRAGMENT: true,
    }),
  )
  const shown = element.querySelector('semantics > :first-child')?.textContent ?? ''
  if (!isDisplayed && shown.length <= longChars) return
  element.classList.add('wide')
  // Horizontally scrollable elements must be reachable by keyboard.
  element.setAttribute('tabindex', '0')
}

/** Null for a mistake in the source, or for one nested too deeply for the stack. */
function mathmlOf(tex: string, displayMode: boolean): string | null {
  try {
    return katex.renderToString(tex, {
      displayMode,
      output: 'mathml',
      trust: false,
      strict: 'ignore',
      maxSize: maxSizeEm,
      errorColor: 'currentcolor',
    })
  } catch {
    return null
  }
}
