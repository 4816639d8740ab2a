import type { HonoRequest, MiddlewareHandler } from 'hono'
import { msg } from '../../language/msg.ts'
import { MAX_NOTE_CHARS } from '../../notes/content.ts'
import { createBodyReader, DEFAULT_BODY_BYTES } from './body-reader.ts'
import type { HttpEnv } from './env.ts'
import { Refusal } from './problem.ts'

const MIB = 1024 * 1024
/** Paths with a larger limit. All of them need a session. */
const LARGER_BODIES = [
  // Each of a million characters may take twelve bytes when JSON escapes it as two surrogates.
  { path: /^\/api\/notes(?:\/[^/]+)?$/, bytes: 12 * MAX_NOTE_CHARS + 64 * 1024 },
  { path: /^\/(?:_dev\/walkie\/voice|api\/speech\/transcriptions)$/, bytes: 8 * MIB },
]
/** Deeper than any request in the contract. */
const MAX_DEPTH = 32
/** More than any request in the contract. A parsed value takes far more memory than its text. */
const MAX_VALUES = 20_000

/**
 * Reads every body within its limit and checks JSON before validation: no `__proto__` key, bounded nesting,
 * bounded number of values. Routes get the body through `c.req.text()` and `c.req.json()`; that of a piece of a file through
 * `c.req.arrayBuffer()`. It is read from Node's request, because creating a web Request costs more (decision 0009).
 */
export function guardBodies(): MiddlewareHandler<HttpEnv> {
  const readBody = createBodyReader()
  return async (c, next) => {
    const { req, env } = c
    if (req.method === 'GET' || req.method === 'HEAD') return next()
    const larger = LARGER_BODIES.find(({ path }) => path.test(req.path))
    const maxBytes = larger?.bytes ?? DEFAULT_BODY_BYTES
    const bytes = await readBody(env.incoming, { maxBytes, isSignedIn: c.get('session') !== null })
    if (isPiece(req)) {
      req.arrayBuffer = async () => bytes.buffer
      return next()
    }
    const text = new TextDecoder().decode(bytes)
    // Some clients send a Content-Type without a body. The route decides whether it needs one.
    if (isJson(req.header('content-type')) && text !== '') checkJson(text)
    req.text = async () => text
    req.json = async () => JSON.parse(text)
    if (text !== '' && !req.header('content-type')) req.raw = withBody(req.raw, text)
    return next()
  }
}

/** Whether it is a piece of an uploaded file, which is not text. */
const isPiece = ({ method, path }: HonoRequest): boolean =>
  method === 'PUT' && /^\/api\/imports\/[^/]+\/file$/.test(path)

/**
 * Puts the body back into the request. Without a Content-Type, the validator reads the body itself; it would
 * treat an empty one as absent instead of refusing it.
 */
function withBody({ url, method, headers }: Request, text: string): Request {
  // Bytes, because Request would set a Content-Type for text.
  return new Request(url, { method, headers, body: new TextEncoder().encode(text) })
}

/** Whether a content type is JSON. Such bodies are checked before any route reads them. */
export function isJson(contentType: string | undefined): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType ?? '')
}

/** Throws a refusal unless the text is JSON of bounded size and depth without `__proto__`. */
function checkJson(text: string): void {
  // Before parsing, because the sender may be a stranger.
  if (hasMoreValues(text, MAX_VALUES))
    throw new Refusal(400, 'malformed_json', msg`The body has too many values.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Refusal(400, 'malformed_json', msg`The body is not valid JSON.`)
  }
  // Without recursion, because deep nesting would overflow the stack.
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new Refusal(400, 'malformed_json', msg`The body is nested too deeply.`)
    const below: unknown[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue
      if (Object.hasOwn(item, '__proto__')) {
        throw new Refusal(400, 'malformed_json', msg`The body has a key that is not allowed.`)
      }
      for (const child of Object.values(item)) below.push(child)
    }
    level = below
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Comma, `[` and `{`: outside strings, one of them precedes each value but the outermost. */
const BEFORE_VALUES = new Set([0x2c, 0x5b, 0x7b])

/** Counts JSON values without parsing them. */
function hasMoreValues(text: string, most: number): boolean {
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (BEFORE_VALUES.has(code)) {
      values += 1
      if (values > most) return true
    }
  }
  return false
}

/** The index of the quote that closes the string at `start`, or the text's length if it is unterminated. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}
