import { type RenderOptions, render } from 'lit'

/** A row as it is to stand in the document. */
export type KeyedRow = { readonly key: string; readonly className: string; readonly content: unknown }

/**
 * Renders rows as the children of `container` between its first and its last child, one element a row, kept by
 * key. In place of Lit's `repeat`, which leaves a comment node behind for each row that it removes (lit/lit#5298,
 * lit-html 3.3.1 and later): a list that is scrolled through for long would fill with them.
 */
export function createKeyedRows(): (
  container: Element,
  rows: readonly KeyedRow[],
  options: RenderOptions,
) => void {
  const elements = new Map<string, HTMLElement>()
  return (container, rows, options) => {
    const wanted = new Set(rows.map(({ key }) => key))
    for (const [key, element] of elements) {
      if (wanted.has(key)) continue
      element.remove()
      elements.delete(key)
    }
    let next = container.firstElementChild?.nextElementSibling ?? null
    for (const { key, className, content } of rows) {
      const element = elements.get(key) ?? createRow(key)
      elements.set(key, element)
      if (element.className !== className) element.className = className
      render(content, element, options)
      // A row that is in its place is not touched: moving it would take the focus from it.
      if (element === next) next = element.nextElementSibling
      else container.insertBefore(element, next)
    }
  }
}

function createRow(key: string): HTMLElement {
  const element = document.createElement('div')
  element.dataset.key = key
  return element
}
