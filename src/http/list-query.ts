import { z } from '@hono/zod-openapi'

/**
 * A whole number in a path or a query, written in plain digits: what a language would also read as one (`1e2`, `0x10`,
 * ` 5`, nothing at all) is no number here. At most `max`, which 9,007,199,254,740,991 bounds.
 */
export function integerParam(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number in digits')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .openapi({ type: 'integer', minimum: min, maximum: max })
}

/** The query of a list: `limit` and an opaque `cursor`, which is a seq: those before it are next. */
export function listQuery(defaultLimit: number, maxLimit: number) {
  return {
    limit: integerParam(1, maxLimit).default(defaultLimit),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/)
      .optional(),
  }
}

/** The seq that a list's cursor names; null for its beginning. */
export function seqOf(cursor: string | undefined): number | null {
  return cursor === undefined ? null : Number(cursor)
}
