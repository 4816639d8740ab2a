import type { InputItem } from './port.ts'

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu
/** Bytes of UTF-8 to a token of running text; English measures near 4, code and other alphabets less. */
const BYTES_A_TOKEN = 3.6
const TOKENS_AN_ITEM = 4

/** Tokens of a text, estimated high rather than low: a budget kept by it is kept. Services report the real figure. */
export function estimateTokens(text: string): number {
  const bytes = Buffer.byteLength(text)
  // As many bytes as characters: plain ASCII, with nothing wide in it to look for.
  const wide = bytes === text.length ? 0 : (text.match(WIDE)?.length ?? 0)
  return Math.ceil((bytes - wide * 3) / BYTES_A_TOKEN) + wide
}

const counted = new WeakMap<InputItem, number>()

/** Tokens of an item of the model's input, estimated likewise; once an item, for a chain is counted with each turn. */
export function estimateItemTokens(item: InputItem): number {
  const known = counted.get(item)
  if (known !== undefined) return known
  const tokens = estimateTokens(textOf(item)) + TOKENS_AN_ITEM
  counted.set(item, tokens)
  return tokens
}

/** All that an item says, or holds. */
export function textOf(item: InputItem): string {
  switch (item.type) {
    case 'message':
    case 'inner':
      return item.text
    case 'tool_call':
      return item.name + item.arguments
    case 'tool_result':
      return item.output
    case 'opaque':
      return item.blob
  }
}
