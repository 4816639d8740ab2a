import { parseJson } from '../../lib/parse-json.ts'
import { shorten } from '../../lib/shorten.ts'
import type { InputItem } from '../../model/port.ts'
import { estimateItemTokens, estimateTokens } from '../../model/tokens.ts'

const WHY = 'it does not fit into the context of this model'

/** At most about `tokens` of a text, with a note of the cut. */
export function cutText(text: string, tokens: number): string {
  const all = estimateTokens(text)
  if (all <= tokens) return text
  const note = ` [… about ${all - tokens} tokens are left out here: ${WHY}]`
  const chars = Math.max(0, Math.floor((text.length * tokens) / all) - note.length)
  return `${text.slice(0, chars).toWellFormed().trimEnd()}${note}`
}

const MANY_ENTRIES = 32
const FEW_CHARS = 16
/** What is nested deeper was made to exhaust the stack. */
const MAX_DEPTH = 32

/** Shortens the strings and lists of a JSON text, so that it stays JSON. */
function cutJson(json: string, tokens: number, note: object): string {
  if (estimateTokens(json) <= tokens) return json
  const value = parseJson(json)
  let entries = MANY_ENTRIES
  for (let chars = tokens * 3; chars >= FEW_CHARS && isObject(value); chars /= 2) {
    const cut = JSON.stringify({ ...note, ...(limited(value, Math.ceil(chars), entries) as object) })
    if (estimateTokens(cut) <= tokens) return cut
    entries = Math.ceil(entries / 2)
  }
  return JSON.stringify(note)
}

function limited(value: unknown, chars: number, entries: number, depth = 0): unknown {
  if (typeof value === 'string') return shorten(value, chars)
  if (!isObject(value)) return value
  if (depth >= MAX_DEPTH) return null
  const inner = (each: unknown) => limited(each, chars, entries, depth + 1)
  if (Array.isArray(value)) return value.slice(0, entries).map(inner)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inner(each)]))
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** At most about `tokens` of an item. An opaque one stays as it is. */
export function cutItem(item: InputItem, tokens: number): InputItem {
  if (estimateItemTokens(item) <= tokens) return item
  switch (item.type) {
    case 'message':
    case 'inner':
      return { ...item, text: cutText(item.text, tokens) }
    case 'tool_call':
      return { ...item, arguments: cutJson(item.arguments, tokens, {}) }
    case 'tool_result':
      return { ...item, output: cutJson(item.output, tokens, { cut: `Part of this is left out: ${WHY}.` }) }
    case 'opaque':
      return item
  }
}
