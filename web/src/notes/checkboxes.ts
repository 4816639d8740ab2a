import type { RenderMarkdown } from '../design/markdown.ts'

const itemsIn = (rendered: DocumentFragment) => [...rendered.querySelectorAll('li.task')]

const isTicked = (item: Element) => item.textContent.trimStart().startsWith('☑')

export const hasCheckboxes = (rendered: DocumentFragment): boolean => itemsIn(rendered).length > 0

/** Makes the boxes of a rendered note work. `tick` is called with the place of the box that is pressed. */
export function makeTickable(rendered: DocumentFragment, tick: (place: number) => void): DocumentFragment {
  for (const [place, item] of itemsIn(rendered).entries()) {
    const text = document.createTreeWalker(item, NodeFilter.SHOW_TEXT).nextNode()
    const box = document.createElement('input')
    box.type = 'checkbox'
    box.checked = isTicked(item)
    box.ariaLabel = item.textContent.trim().split('\n', 1).join('').slice(2)
    box.addEventListener('change', () => tick(place))
    if (!(text instanceof Text)) continue
    text.data = text.data.replace(/[☐☑] /, '')
    text.before(box)
  }
  return rendered
}

/**
 * The source of a note with one of its boxes ticked, or no longer. Only its rendering tells which mark makes a box, and
 * not a part of code.
 */
export function toggleCheckbox(source: string, place: number, render: RenderMarkdown): string {
  const boxesOf = (text: string) => itemsIn(render(text)).map(isTicked)
  const wanted = boxesOf(source)
    .map((ticked, at) => ticked !== (at === place))
    .join()
  // Each box before it has a mark.
  for (const { 0: mark, index } of [...source.matchAll(/\[[ xX]\]/g)].slice(place)) {
    const text = source.slice(0, index) + (mark === '[ ]' ? '[x]' : '[ ]') + source.slice(index + mark.length)
    if (boxesOf(text).join() === wanted) return text
  }
  return source
}
