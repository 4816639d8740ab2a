import DOMPurify from 'dompurify'
import hljs from 'highlight.js/lib/common'

/** Longer code is not highlighted, to bound the cost. */
const maxChars = 20_000

const purify = DOMPurify(window)

/** Colours the code of an element with the class `language-…`, if the language is a known one. */
export function highlight(code: Element): void {
  const language = code.className.replace('language-', '').toLowerCase()
  const text = code.textContent ?? ''
  if (text.length > maxChars || !hljs.getLanguage(language)) return
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true })
  code.replaceChildren(
    purify.sanitize(value, {
      ALLOWED_TAGS: ['span'],
      ALLOWED_ATTR: ['class'],
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      RETURN_DOM_FRAGMENT: true,
    }),
  )
}
