import { z } from '@hono/zod-openapi'
import { english } from '../../language/message.ts'

/**
 * A whole number from `min` to `max` in a path or query, in plain digits only: not `1e2`, `0x10`, ` 5` or an
 * empty string. `max` is at most Number.MAX_SAFE_INTEGER.
 */
export function integerParam(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, english`must be a whole number in digits`)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .openapi({ type: 'integer', minimum: min, maximum: max })
}

/** The query of a list: `limit`, and an opaque `cursor`. The cursor is a seq; the page begins before it. */
export function listQuery(defaultLimit: number, maxLimit: number) {
  return {
    limit: integerParam(1, maxLimit).default(defaultLimit),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/)
      .optional(),
  }
}

/** The cursor of a list's next page; null at the end. */
export const nextCursor = z.string().nullable()

/** The seq in a list's cursor; null for the first page. */
export function seqOf(cursor: string | undefined): number | null {
  return cursor === undefined ? null : Number(cursor)
}
