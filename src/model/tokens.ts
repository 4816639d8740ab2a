import type { InputItem } from './port.ts'

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu
/** UTF-8 bytes per token. English measures near 4, code and other alphabets less. */
const BYTES_A_TOKEN = 3.6
const TOKENS_AN_ITEM = 4

/** Estimates the tokens of a text, high rather than low, so that budgets hold. */
export function estimateTokens(text: string): number {
  const bytes = Buffer.byteLength(text)
  // Plain ASCII has no wide characters.
  const wide = bytes === text.length ? 0 : (text.match(WIDE)?.length ?? 0)
  return Math.ceil((bytes - wide * 3) / BYTES_A_TOKEN) + wide
}

/** Estimates the tokens of an input item. */
export function estimateItemTokens(item: InputItem): number {
  return estimateTokens(textOf(item)) + TOKENS_AN_ITEM
}

/** All text of an item. */
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
