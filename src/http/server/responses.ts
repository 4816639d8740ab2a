import type { Context, TypedResponse } from 'hono'

/** Responds to HEAD on a stream with the headers only; the stream itself would never end. */
export function streamHeaders(c: Context): Response & TypedResponse<never, 200, 'text'> {
  const response: Response = c.newResponse(null, 200, { 'content-type': 'text/event-stream' })
  return response as Response & TypedResponse<never, 200, 'text'>
}

/** Responds 200 with `text`, which is already JSON of the declared shape. */
export function jsonText(c: Context, text: string): Response & TypedResponse<never, 200, 'json'> {
  // TypedResponse adds only compile-time information.
  const response: Response = c.newResponse(text, 200, { 'content-type': 'application/json' })
  return response as Response & TypedResponse<never, 200, 'json'>
}
