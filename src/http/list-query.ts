import { z } from '@hono/zod-openapi'

/** The query of a list: `limit` and an opaque `cursor`, which is a seq: those before it are next. */
export function listQuery(defaultLimit: number, maxLimit: number) {
  return {
    limit: z.coerce.number().int().min(1).max(maxLimit).default(defaultLimit),
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
