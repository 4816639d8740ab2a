import katex from 'katex'
import { texOf } from './formula.ts'

export type RenderedFormula = {
  /** Holds the elements of `mathTags` and others that may be dropped. */
  readonly mathml: string
  /** It gets a line of its own, where it can scroll. */
  readonly isWide: boolean
}

/** Longer formulas stay source, to bound the cost. */
const MAX_CHARS = 4000
/** The largest size that a formula can ask for, so that it cannot cover the page. */
const MAX_SIZE_EM = 20
const LONG_CHARS = 24
/** Macros can make millions of elements out of a short formula, and messages go to the console. */
const REFUSED =
  /\\(?:[egx]?def|let|futurelet|(?:re)?newcommand|providecommand|(?:err)?message|show)(?![a-zA-Z])/

/** All that KaTeX writes, without `style`, `class` and what needs its trust: links, images and HTML. */
export const mathTags = [
  ...['math', 'semantics', 'annotation', 'mtext', 'mn', 'mo', 'mi', 'mspace', 'mover', 'munder'],
  ...['munderover', 'msup', 'msub', 'msubsup', 'mfrac', 'mroot', 'msqrt', 'mtable', 'mtr', 'mtd'],
  ...['mlabeledtr', 'mrow', 'menclose', 'mstyle', 'mpadded', 'mphantom'],
]
export const mathAttributes = [
  ...['accent', 'accentunder', 'columnalign', 'columnlines', 'columnspacing', 'depth', 'display'],
  ...['displaystyle', 'encoding', 'fence', 'height', 'largeop', 'linebreak', 'linethickness', 'lspace'],
  ...['mathbackground', 'mathcolor', 'mathsize', 'mathvariant', 'maxsize', 'minsize', 'notation'],
  ...['rowlines', 'rowspacing', 'rspace', 'scriptlevel', 'separator', 'stretchy', 'valign', 'voffset'],
  'width',
]

/**
 * Renders a formula with its delimiters as MathML, which the caller sanitises. Null for one that is too long, defines
 * macros or writes messages, has a mistake, or is nested too deeply for the stack.
 */
export function renderFormula(raw: string): RenderedFormula | null {
  if (raw.length > MAX_CHARS || REFUSED.test(raw)) return null
  const { tex, isDisplayed } = texOf(raw)
  try {
    const mathml = katex.renderToString(tex, {
      displayMode: isDisplayed,
      output: 'mathml',
      trust: false,
      strict: 'ignore',
      maxSize: MAX_SIZE_EM,
      errorColor: 'currentcolor',
    })
    return { mathml, isWide: isDisplayed || shownChars(mathml) > LONG_CHARS }
  } catch {
    return null
  }
}

/** How many characters are drawn: all before the source, which stands at the end. */
function shownChars(mathml: string): number {
  const shown = mathml.slice(0, mathml.indexOf('<annotation'))
  return shown.replaceAll(/<[^<>]*>/g, '').replaceAll(/&[^&;]*;/g, '&').length
}
