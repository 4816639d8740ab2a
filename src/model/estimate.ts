/**
 * Tokens of a text where nobody counted them: UTF-8 bytes divided by four, rounded up, the rule of thumb of
 * OpenAI's tokenizer documentation for English; too high for most other scripts, which is the safe side.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / 4)
}
