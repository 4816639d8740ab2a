import type { InputItem } from '../../model/port.ts'
import { heardText } from '../call/heard-text.ts'
import { MS_A_CHARACTER } from '../call/medium.ts'

/** A sentence of a reply, and the length of its audio so far. */
export type Part = { text: string; ms: number; isWhole: boolean }

type Item =
  | { readonly id: string; readonly type: 'context'; readonly input: readonly InputItem[] }
  | { readonly id: string; readonly type: 'heard'; text: string }
  | { readonly id: string; readonly type: 'spoken'; parts: Part[] }

export type Placed = { readonly id: string; readonly previous: string | null }

export type Conversation = ReturnType<typeof createConversation>

/** The items of a session in order, and what a text model reads of them. */
export function createConversation(options: {
  readonly role: 'owner' | 'guest'
  /** The delimited data that a text consists of; null for words. */
  readonly readData: (text: string) => readonly InputItem[] | null
}) {
  const { role, readData } = options
  const items: Item[] = []

  function add(item: Item): Placed {
    const previous = items.at(-1)?.id ?? null
    items.push(item)
    return { id: item.id, previous }
  }

  function inputOf(item: Item): readonly InputItem[] {
    if (item.type === 'context') return item.input
    if (item.type === 'heard') return item.text === '' ? [] : [{ type: 'message', role, text: item.text }]
    const text = spokenText(item.parts)
    return text === '' ? [] : [{ type: 'message', role: 'delegate', text }]
  }

  return {
    /** Earlier words, or data, which is recognised by its delimiters. */
    addText(id: string, by: 'user' | 'assistant', text: string): Placed {
      if (by === 'assistant') return this.addContext(id, [{ type: 'message', role: 'delegate', text }])
      return this.addContext(id, readData(text) ?? [{ type: 'message', role, text }])
    },
    addContext: (id: string, input: readonly InputItem[]): Placed => add({ id, type: 'context', input }),
    /** What the caller said; its words follow. */
    addHeard: (id: string): Placed => add({ id, type: 'heard', text: '' }),
    setHeard(id: string, text: string): void {
      const item = items.find((each) => each.id === id)
      if (item?.type === 'heard') item.text = text
    },
    /** A reply. Its parts grow while it is generated. */
    addSpoken: (id: string, parts: Part[]): Placed => add({ id, type: 'spoken', parts }),
    /** Cuts a reply to what was heard. Returns why it cannot be cut there, or null. */
    truncate(id: string, endMs: number): string | null {
      const item = items.find((each) => each.id === id)
      if (item?.type !== 'spoken') return `no reply ${id}`
      const ms = item.parts.reduce((sum, part) => sum + part.ms, 0)
      if (endMs <= 0 || endMs > ms) return `audio of ${ms} ms cannot be truncated at ${endMs}`
      item.parts = partsUntil(item.parts, endMs)
      return null
    },
    /** Whether there was such an item. */
    remove(id: string): boolean {
      const index = items.findIndex((each) => each.id === id)
      if (index >= 0) items.splice(index, 1)
      return index >= 0
    },
    /** Whether a tool has returned since anybody spoke. */
    hasResults(): boolean {
      const last = items.findLastIndex(
        (item) => item.type === 'spoken' || (item.type === 'heard' && item.text !== ''),
      )
      const since = items.slice(last + 1).flatMap(inputOf)
      return since.some(({ type }) => type === 'tool_result')
    },
    input: (): readonly InputItem[] => items.flatMap(inputOf),
  }
}

/** The words that have audio. For an incomplete sentence, an estimate from the length of its audio. */
export function spokenText(parts: readonly Part[]): string {
  return parts
    .map((part) => (part.isWhole ? part.text : heardText(part.text, part.ms, wholeMs(part))))
    .join('')
}

function partsUntil(parts: readonly Part[], endMs: number): Part[] {
  let at = 0
  return parts.flatMap((part) => {
    const ms = Math.min(part.ms, endMs - at)
    at += part.ms
    if (ms === part.ms) return [part]
    return ms <= 0 ? [] : [{ text: heardText(part.text, ms, wholeMs(part)), ms, isWhole: true }]
  })
}

function wholeMs({ text, ms, isWhole }: Part): number {
  return isWhole ? ms : Math.max(ms, text.length * MS_A_CHARACTER)
}

const OPENING = /^<data code="([0-9a-f]{16})" label="([^"\n]*)">\n/

/**
 * Reads the data of a text that consists of delimited blocks only. Null for any other text. Nobody else can write a
 * block, because its code is checked.
 */
export function createDataReader(delimit: (label: string, text: string) => string) {
  return (text: string): readonly InputItem[] | null => {
    const blocks: InputItem[] = []
    let rest = text.trim()
    while (rest !== '') {
      const [opening = '', code = '', label = ''] = OPENING.exec(rest) ?? []
      const closing = `\n</data code="${code}">`
      const end = rest.indexOf(closing, opening.length)
      const content = rest.slice(opening.length, Math.max(end, 0))
      const block = rest.slice(0, end + closing.length)
      if (opening === '' || end < 0 || delimit(label, content) !== block) return null
      blocks.push({ type: 'inner', label, text: content })
      rest = rest.slice(block.length).trimStart()
    }
    return blocks.length === 0 ? null : blocks
  }
}
