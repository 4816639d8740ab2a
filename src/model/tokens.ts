import type { InputItem } from './port.ts'

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu
/** Bytes of UTF-8 to a token of running text; English measures near 4, code and other alphabets less. */
const BYTES_A_TOKEN = 3.6
const TOKENS_AN_ITEM = 4

/** Tokens of a text, estimated high rather than low: a budget kept by it is kept. Services report the real figure. */
export function estimateTokens(text: string): number {
  const wide = text.match(WIDE)?.length ?? 0
  return Math.ceil((Buffer.byteLength(text) - wide * 3) / BYTES_A_TOKEN) + wide
}

/** Tokens of an item of the model's input, estimated likewise. */
export function estimateItemTokens(item: InputItem): number {
  switch (item.type) {
    case 'message':
    case 'inner':
      return estimateTokens(item.text) + TOKENS_AN_ITEM
    case 'tool_call':
      return estimateTokens(item.name + item.arguments) + TOKENS_AN_ITEM
    case 'tool_result':
      return estimateTokens(item.output) + TOKENS_AN_ITEM
    case 'opaque':
      return estimateTokens(item.blob) + TOKENS_AN_ITEM
  }
}
