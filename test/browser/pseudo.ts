import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { englishTexts } from '../../scripts/lib/texts.ts'
import { pseudoText } from '../../src/language/pseudo.ts'
import { valuesOf } from '../../src/language/sentences.ts'
import type { Client } from '../http/client.ts'

/** The narrowest phone, in the pseudo-language. */
export const narrowPseudo = {
  locale: 'en-XA',
  viewport: { width: 320, height: 700 },
  hasTouch: true,
  isMobile: true,
}

/**
 * Walks pages in the pseudo-language (`src/language/pseudo.ts`). Tests name what they look for in English; here these
 * names are translated.
 */
const PSEUDO = new WeakSet<Page>()
const NAMED = ['getByText', 'getByLabel', 'getByPlaceholder', 'getByTitle'] as const

// biome-ignore lint/suspicious/noExplicitAny: patches methods of several signatures.
type Patched = Record<string, any>

/** Lets the locators of this page take English names. */
export function speakPseudo(page: Page): void {
  for (const target of [page, page.locator('html')]) patch(Object.getPrototypeOf(target))
  PSEUDO.add(page)
}

function patch(prototype: Patched): void {
  if (Object.hasOwn(prototype, 'isPatched')) return
  prototype.isPatched = true
  const isPseudo = (target: Page | Locator) => PSEUDO.has('page' in target ? target.page() : target)
  for (const method of NAMED) {
    const original = prototype[method]
    prototype[method] = function (this: Page | Locator, name: string | RegExp, options: object) {
      return original.call(this, isPseudo(this) ? pseudoName(name) : name, options)
    }
  }
  const byRole = prototype.getByRole
  prototype.getByRole = function (
    this: Page | Locator,
    role: string,
    options: { name?: string | RegExp } = {},
  ) {
    const { name } = options
    const named = name === undefined || !isPseudo(this) ? options : { ...options, name: pseudoName(name) }
    return byRole.call(this, role, named)
  }
  const { filter } = prototype
  if (!filter) return
  prototype.filter = function (this: Locator, options: { hasText?: string | RegExp }) {
    const { hasText } = options
    const named =
      hasText === undefined || !isPseudo(this) ? options : { ...options, hasText: pseudoName(hasText) }
    return filter.call(this, named)
  }
}

const templates = [...englishTexts()]
  .toSorted((a, b) => b.length - a.length)
  .map((english) => ({ english, parts: english.split(/\{\d+\}/) }))

/** What a page shows for English words. Words of the owner stay as they are. */
function pseudoName(name: string | RegExp): string | RegExp {
  if (name instanceof RegExp) {
    const words = name.source.replace(/^\^|\$$/g, '')
    return beginningOf(words) ?? name
  }
  for (const { english, parts } of templates) {
    const values = parts[0] === '' ? null : valuesOf(name, parts)
    if (values === null) continue
    const shown = pseudoText(english).replace(/\{(\d+)\}/g, (_, at) =>
      String(pseudoName(values[Number(at)] ?? '')),
    )
    return shown
  }
  return beginningOf(name) ?? name
}

/** What a text that begins with these words begins with on the page. */
function beginningOf(words: string): string | null {
  const [first = ''] =
    templates.find(({ parts }) => parts.length > 1 && words.startsWith(parts[0] || '\n'))?.parts ?? []
  const isKnown = templates.some(
    ({ english }) => english.startsWith(words) && !english.startsWith(`${words}.`),
  )
  if (isKnown) return pseudoText(words).slice(0, -1)
  return first.length < 8 ? null : pseudoText(first).slice(0, -1) + words.slice(first.length)
}

/** All words that the owner, others or the model wrote, and what settings name. */
export async function dataOf(client: Client): Promise<string> {
  const read = async (path: string) => (await client.get(path)).json
  const { events } = await read('/api/timeline?limit=5000')
  const { entries } = await read('/api/config')
  const found: string[] = entries.map(({ key, value }: { key: string; value: unknown }) => `${key} ${value}`)
  const add = (value: unknown): void => {
    if (typeof value === 'string') found.push(value)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(add)
  }
  add(events)
  for (const path of [
    '/api/notes',
    '/api/memories',
    '/api/adaptations',
    '/api/services',
    '/api/sessions',
    '/api/spending',
    '/api/imports',
    '/api/imported',
    '/api/imported.candidates',
    '/api/memories/recall-examples',
  ])
    add(await read(path))
  for (const { id } of (await read('/api/imported')).conversations) add(await read(`/api/imported/${id}`))
  return found.join('\n').replaceAll(/\s+/g, ' ')
}

/** Words that are the same in each language, and those of formats (see `locale` in web/src/design/msg.ts). */
const SHARED =
  /\b(?:Delegate|PostgreSQL|OpenAI|ChatGPT|Claude|Deutsch|English|Node|ms|min|KB|MB|GB|UTC|GMT|BST|AM|PM|SMS|API|PIN|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Mon|Tue|Wed|Thu|Fri|Sat|Sun|January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|ago|in|at|and|yesterday|tomorrow|today|(?:second|minute|hour|day|month|year)s?)\b/g

/** Checks that each of these texts is in the catalogue, or among the data. */
export function checkTexts(name: string, texts: readonly string[], data: string): void {
  expect.soft([name, texts.filter((text) => !isKnown(text, data))]).toEqual([name, []])
}

/** The visible texts of the page without the mark of the pseudo-language, other than those of `data`. */
export async function unmarkedTexts(page: Page, data: string): Promise<string[]> {
  const texts = await page.evaluate(visibleTexts)
  return texts.filter(([, text]) => !isKnown(text, data)).map(([where, text]) => `${where}: ${text}`)
}

function isKnown(text: string, data: string): boolean {
  return withoutMarked(text)
    .split(/\n| · /)
    .every((part) => {
      const words = part.replaceAll(/\s+/g, ' ').trim()
      const plain = words.replace(SHARED, '').replaceAll(/https?:\S+/g, '')
      return !/[A-Za-z]{2}/.test(plain) || data.includes(words.replace(/^[\W_]+|[\W_]+$/g, ''))
    })
}

/** Cuts what is in brackets, which may be nested. */
function withoutMarked(text: string): string {
  let depth = 0
  let rest = ''
  for (const letter of text) {
    if (letter === '[') depth += 1
    if (depth === 0) rest += letter
    if (letter === ']') {
      depth = Math.max(0, depth - 1)
      rest += '\n'
    }
  }
  return rest
}

/** Runs in the page: its visible texts and named attributes, across shadow roots. */
function visibleTexts(): [string, string][] {
  const found: [string, string][] = []
  const attributes = ['aria-label', 'title', 'placeholder', 'alt', 'aria-description', 'aria-valuetext']
  /** Words of the owner and of machines. */
  const skipped =
    'script, style, code, pre, kbd, .prose, textarea, datalist, .log-line, .lines, .excerpt, .snippet, .codes, [lang]:not(html)'
  const look = (root: Document | ShadowRoot): void => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) look(element.shadowRoot)
      if (element.closest(skipped) || !element.checkVisibility()) continue
      const where = element.localName + (element.className ? `.${element.className}` : '')
      for (const name of attributes) {
        const text = element.getAttribute(name)
        if (text) found.push([`${where}[${name}]`, text])
      }
      const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
      const text = own.map((node) => node.textContent).join('\n')
      if (text.trim() !== '') found.push([where, text])
    }
  }
  look(document)
  found.push(['title', document.title])
  return found
}

/** What does not fit: elements that reach over the edge of the page or of what cuts them off. */
export const misfits = (page: Page): Promise<string[]> => page.evaluate(overflowing)

/** Runs in the page. */
function overflowing(): string[] {
  const found: string[] = []
  const parentOf = (element: Element): Element | null =>
    element.assignedSlot ?? element.parentElement ?? (element.getRootNode() as ShadowRoot).host ?? null
  const isScrolled = (element: Element): boolean => {
    for (let above = parentOf(element); above && above !== document.body; above = parentOf(above))
      if (/auto|scroll/.test(getComputedStyle(above).overflowX) && above.scrollWidth > above.clientWidth)
        return true
    return false
  }
  const look = (root: Document | ShadowRoot): void => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) look(element.shadowRoot)
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
      const { left, right, width, height } = element.getBoundingClientRect()
      const { overflowX, textOverflow, clipPath, position } = getComputedStyle(element)
      if (width <= 1 || height <= 1 || clipPath !== 'none' || element.closest('.visually-hidden')) continue
      const name = `${element.localName}.${element.className}: ${(element.textContent ?? '').trim().slice(0, 60)}`
      if ((right > innerWidth + 1 || left < -1) && position !== 'fixed' && !isScrolled(element))
        found.push(`beyond the edge (${Math.round(left)} to ${Math.round(right)}): ${name}`)
      const isCut = overflowX === 'hidden' || overflowX === 'clip'
      if (
        isCut &&
        textOverflow !== 'ellipsis' &&
        element.scrollWidth > element.clientWidth + 1 &&
        element.clientWidth > 0
      )
        found.push(`cut off: ${name}`)
    }
  }
  look(document)
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways')
  return found
}

/** Checks that every text of the page is in the catalogue, and that all fits at this width. */
export async function checkPseudo(page: Page, name: string, data: string): Promise<void> {
  expect.soft([name, await unmarkedTexts(page, data)]).toEqual([name, []])
  expect.soft([name, await misfits(page)]).toEqual([name, []])
}
