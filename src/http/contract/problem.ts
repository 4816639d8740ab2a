import { z } from '@hono/zod-openapi'

export const PROBLEM_TYPE = 'application/problem+json'

/** The shape of every refusal (RFC 9457). `code` is for programs and stable, `detail` is for people. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .openapi('Problem')

export type ProblemDocument = z.output<typeof problemSchema>

export type RefusalStatus = 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 417 | 429 | 431 | 500 | 502 | 503
