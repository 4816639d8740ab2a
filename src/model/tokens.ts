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

/** A run like base64 or a key. Such text may need a token for each byte. */
const DENSE = /[!-~]{32,}/g
/** No language measured needs more tokens than one for two bytes; English needs less than half. */
const LEAST_BYTES_A_TOKEN = 2
/** What the service adds around an item. */
const MOST_TOKENS_AN_ITEM = 64

const denseCharsIn = (text: string): number =>
  text.match(DENSE)?.reduce((sum, run) => sum + run.length, 0) ?? 0

/** The most tokens that a text may be counted as. */
export function mostTokens(text: string): number {
  return Math.ceil((Buffer.byteLength(text) + denseCharsIn(text)) / LEAST_BYTES_A_TOKEN)
}

const MARKS = /[!-/:-@[-`{-~]/g
/** In code and JSON, about every third mark is a token of its own. */
const TOKENS_A_MARK = 0.35

/** What an estimate leaves out of keys, ids, code and the like. */
export function denseTokens(text: string): number {
  const ofRuns = denseCharsIn(text) * (1 / LEAST_BYTES_A_TOKEN - 1 / BYTES_A_TOKEN)
  const ofMarks = (text.match(MARKS)?.length ?? 0) * TOKENS_A_MARK
  return Math.ceil(Math.max(ofRuns, ofMarks))
}

/** The most tokens that an input item may be counted as. Opaque items hold several bytes for each token. */
export function mostItemTokens(item: InputItem): number {
  const text = textOf(item)
  const most = item.type === 'opaque' ? text.length / LEAST_BYTES_A_TOKEN : mostTokens(text)
  return Math.ceil(most) + MOST_TOKENS_AN_ITEM
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
