import { html, type TemplateResult } from 'lit'

/** A snippet as text nodes, with matches in <mark>. The service puts them between U+0002 and U+0003. */
export function markedText(marked: string): (string | TemplateResult)[] {
  const [start, end] = [String.fromCharCode(2), String.fromCharCode(3)]
  const pieces = marked.split(start).flatMap((part) => part.split(end))
  return pieces.map((piece, index) => (index % 2 === 1 ? html`<mark>${piece}</mark>` : piece))
}
