import { type RenderOptions, render } from 'lit'

export type KeyedRow = { readonly key: string; readonly className: string; readonly content: unknown }

/**
 * Renders one keyed element per row between the first and last child of `container`. Used because Lit's
 * `repeat` leaks a comment node for each removed row (lit/lit#5298, lit-html 3.3.1 and later).
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
      // Moving an element would take the focus from it.
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
