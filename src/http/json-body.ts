import type { MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { HttpEnv } from './env.ts'
import { Refusal } from './problem.ts'

const MIB = 1024 * 1024
export const DEFAULT_BODY_BYTES = MIB
/** Deeper than any request of the contract goes. */
const MAX_DEPTH = 32

/**
 * Bounds every body, and looks over JSON before its schema does: no key that could reach a prototype, no nesting
 * that could exhaust a stack. `limits` tell which paths take more than the default, in bytes.
 */
export function guardBodies(
  limits: readonly ((path: string) => number | null)[],
): MiddlewareHandler<HttpEnv> {
  const guards = new Map<number, MiddlewareHandler>()

  function guardOf(bytes: number): MiddlewareHandler {
    const known = guards.get(bytes)
    if (known) return known
    const guard = bodyLimit({
      maxSize: bytes,
      onError: () => {
        throw bodyTooLarge(bytes)
      },
    })
    guards.set(bytes, guard)
    return guard
  }

  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    const bytes = limits.reduce((most, limit) => Math.max(most, limit(c.req.path) ?? 0), DEFAULT_BODY_BYTES)
    return guardOf(bytes)(c, async () => {
      if (isJson(c.req.header('content-type'))) {
        // Kept by the request: the validator parses the same text.
        const text = await c.req.text()
        // Programs name the kind of a body that they do not send. Whether one is needed, the route says.
        if (text !== '') checkJson(text)
      }
      await next()
    })
  }
}

/** What a body over the bound of its path hears. */
export function bodyTooLarge(bytes: number): Refusal {
  return new Refusal(413, 'body_too_large', `The body is larger than ${bytes} bytes.`, {
    // What is still to come is not worth reading.
    headers: { connection: 'close' },
  })
}

/** Whether a body of this content type is JSON; then it was looked over before any route reads it. */
export function isJson(contentType: string | undefined): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType ?? '')
}

/** Throws a refusal unless the text is JSON of bounded depth without `__proto__`. */
function checkJson(text: string): void {
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
