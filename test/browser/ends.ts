import type { Locator } from 'playwright-core'

/** The x positions of the first and last letter from the element's left edge, and the element's width. */
export async function ends(element: Locator): Promise<{ first: number; last: number; width: number }> {
  return element.evaluate((node) => {
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT)
    const all: Text[] = []
    while (texts.nextNode()) if (texts.currentNode instanceof Text) all.push(texts.currentNode)
    const letters = all.filter(({ data }) => data.trim() !== '')
    const left = (text: Text | undefined, at: number) => {
      if (!text) throw new Error('the element has no text')
      const range = document.createRange()
      range.setStart(text, at)
      range.setEnd(text, at + 1)
      return range.getBoundingClientRect().left - node.getBoundingClientRect().left
    }
    const last = letters.at(-1)
    return {
      first: left(letters[0], letters[0]?.data.search(/\S/) ?? 0),
      last: left(last, (last?.data.trimEnd().length ?? 1) - 1),
      width: node.getBoundingClientRect().width,
    }
  })
}
