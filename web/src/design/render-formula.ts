import DOMPurify from 'dompurify'
import { mathAttributes, mathTags, renderFormula } from '../../../src/text/mathml.ts'

const purify = DOMPurify(window)

/** Replaces the source of a formula in `span.math` with MathML. A formula with a mistake stays as written. */
export function showFormula(element: Element): void {
  const formula = renderFormula(element.textContent ?? '')
  if (!formula) return
  element.replaceChildren(
    purify.sanitize(formula.mathml, {
      ALLOWED_TAGS: mathTags,
      ALLOWED_ATTR: mathAttributes,
      // None of them holds a URL. Without this the sanitiser checks them against the URL pattern and drops them.
      ADD_URI_SAFE_ATTR: mathAttributes,
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      RETURN_DOM_FRAGMENT: true,
    }),
  )
  if (!formula.isWide) return
  element.classList.add('wide')
  // Horizontally scrollable elements must be reachable by keyboard.
  element.setAttribute('tabindex', '0')
}
