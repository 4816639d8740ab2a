import type { ResponseInputItem, Tool } from 'openai/resources/responses/responses'

/** A request whose context is a list of items, as all of ours are. */
export type WithItems<Params> = Params & {
  readonly input: readonly ResponseInputItem[]
  readonly tools?: readonly Tool[]
}

/** What is posted, and how: an encoded body is passed on by the SDK as it is. */
export type Posted = {
  readonly body: Buffer<ArrayBuffer>
  readonly headers: { readonly 'content-type': 'application/json' }
}

const encoded = new WeakMap<ResponseInputItem | Tool, string>()

/**
 * The JSON of a request. The SDK's own encoder looks at every value on its way (`observeJSONRequestBody`), and the
 * whole context comes again with each request, and so do the tools: a long one would hold the event loop for
 * milliseconds. Here an item, and a tool, is encoded once, which takes that nobody changes it.
 */
export function toPosted<Params extends object>({ input, tools, ...rest }: WithItems<Params>): Posted {
  const offered = tools === undefined ? '' : `,"tools":[${toJsonItems(tools)}]`
  const begin = JSON.stringify(rest).slice(0, -1)
  return {
    body: Buffer.from(`${begin}${offered},"input":[${toJsonItems(input)}]}`),
    headers: { 'content-type': 'application/json' },
  }
}

/** Items as they stand in a JSON array. */
function toJsonItems(items: readonly (ResponseInputItem | Tool)[]): string {
  return items.map(encodeOnce).join()
}

function encodeOnce(item: ResponseInputItem | Tool): string {
  let json = encoded.get(item)
  if (json === undefined) {
    json = JSON.stringify(item)
    encoded.set(item, json)
  }
  return json
}
