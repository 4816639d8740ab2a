import type { Context, TypedResponse } from 'hono'

/** Responds to HEAD on a stream with the headers only; the stream itself would never end. */
export function streamHeaders(c: Context): Response & TypedResponse<never, 200, 'text'> {
  const response: Response = c.newResponse(null, 200, { 'content-type': 'text/event-stream' })
  return response as Response & TypedResponse<never, 200, 'text'>
}
