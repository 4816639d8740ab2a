import type { MiddlewareHandler } from 'hono'
import { createBodyReader } from './body-reader.ts'
import type { HttpEnv } from './env.ts'
import { Refusal } from './problem.ts'

const MIB = 1024 * 1024
export const DEFAULT_BODY_BYTES = MIB
/** Deeper than any request of the contract goes. */
const MAX_DEPTH = 32
/** More values than any request of the contract has: each costs its reader far more than the bytes it is written in. */
const MAX_VALUES = 20_000

/**
 * Reads every body within its bound, and looks over JSON before its schema does: no key that could reach a prototype,
 * no nesting that could exhaust a stack. `limits` tell which paths take more than the default, in bytes. Routes find the
 * body as `c.req.text()` and `c.req.json()`; it is read here from Node's own request, which costs less than to make the
 * web's Request and its stream for it (decision 0003).
 */
export function guardBodies(
  limits: readonly ((path: string) => number | null)[],
): MiddlewareHandler<HttpEnv> {
  const readBody = createBodyReader()
  return async (c, next) => {
    const { req, env } = c
    if (req.method === 'GET' || req.method === 'HEAD') return next()
    const bytes = limits.reduce((most, limit) => Math.max(most, limit(req.path) ?? 0), DEFAULT_BODY_BYTES)
    const text = await readBody(env.incoming, { maxBytes: bytes, isSignedIn: c.get('session') !== null })
    // Programs name the kind of a body that they do not send. Whether one is needed, the route says.
    if (isJson(req.header('content-type')) && text !== '') checkJson(text)
    req.text = async () => text
    req.json = async () => JSON.parse(text)
    if (text !== '' && !req.header('content-type')) req.raw = withBody(req.raw, text)
    return next()
  }
}

/**
 * The same request with its body in it again. A route looks for one by itself where its kind is not named: what it would not
 * find it could not refuse, and would answer as if nothing had been sent.
 */
function withBody({ url, method, headers }: Request, text: string): Request {
  // Of a text the web's Request would name a kind.
  return new Request(url, { method, headers, body: new TextEncoder().encode(text) })
}

/** Whether a body of this content type is JSON; then it was looked over before any route reads it. */
export function isJson(contentType: string | undefined): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType ?? '')
}

/** Throws a refusal unless the text is JSON of bounded size and depth without `__proto__`. */
function checkJson(text: string): void {
  // Before it is parsed: whoever sent it need not be signed in.
  if (hasMoreValues(text, MAX_VALUES))
    throw new Refusal(400, 'malformed_json', 'The body has too many values.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Refusal(400, 'malformed_json', 'The body is not valid JSON.')
  }
  // Level by level, not by recursion: the nesting is what is being measured.
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new Refusal(400, 'malformed_json', 'The body is nested too deeply.')
    const below: unknown[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue
      if (Object.hasOwn(item, '__proto__')) {
        throw new Refusal(400, 'malformed_json', 'The body has a key that is not allowed.')
      }
      for (const child of Object.values(item)) below.push(child)
    }
    level = below
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** A comma, and what opens a list or an object: outside strings, no value is without one, but the outermost. */
const BEFORE_VALUES = new Set([0x2c, 0x5b, 0x7b])

/** Counts the values of JSON without making them. */
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

/** Where the string that begins at `start` ends; the end of the text where it does not. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}
