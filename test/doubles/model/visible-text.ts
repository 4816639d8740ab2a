import type { Json } from './answer.ts'

/** Every text of an input that a model would read, one a line. Compaction items of the double are decoded. */
export function visibleText(input: unknown): string {
  const texts: string[] = []
  collect(input, texts)
  return texts.join('\n')
}

const TEXT_KEYS = ['text', 'content', 'output', 'tool_calls', 'function', 'arguments']

function collect(node: unknown, texts: string[]): void {
  if (typeof node === 'string') {
    if (node !== '') texts.push(node)
  } else if (Array.isArray(node)) for (const each of node) collect(each, texts)
  else if (isJson(node)) {
    if (node.type === 'compaction') texts.push(openCompaction(node.encrypted_content))
    else for (const key of TEXT_KEYS) if (key in node) collect(node[key], texts)
  }
}

const SEAL = 'sealed:'

/** Encodes the content of a compaction item, which is opaque to clients as in the real service. */
export function sealCompaction(text: string): string {
  return `${SEAL}${Buffer.from(text).toString('base64')}`
}

function openCompaction(blob: unknown): string {
  if (typeof blob !== 'string' || !blob.startsWith(SEAL)) return ''
  return Buffer.from(blob.slice(SEAL.length), 'base64').toString('utf8')
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
