import type { ResponseInputItem } from 'openai/resources/responses/responses'

/** A request whose context is a list of items, as all of ours are. */
export type WithItems<Params> = Params & { readonly input: readonly ResponseInputItem[] }

/** What is posted, and how: an encoded body is passed on by the SDK as it is. */
export type Posted = {
  readonly body: string
  readonly headers: { readonly 'content-type': 'application/json' }
}

const encoded = new WeakMap<ResponseInputItem, string>()

/**
 * The JSON of a request. The SDK's own encoder looks at every value on its way (`observeJSONRequestBody`), and the
 * whole context comes again with each request: a long one would hold the event loop for milliseconds. Here an item is
 * encoded once, which takes that nobody changes it.
 */
export function toPosted<Params extends object>({ input, ...rest }: WithItems<Params>): Posted {
  const items = input.map(encodeOnce).join()
  return {
    body: `${JSON.stringify(rest).slice(0, -1)},"input":[${items}]}`,
    headers: { 'content-type': 'application/json' },
  }
}

function encodeOnce(item: ResponseInputItem): string {
  let json = encoded.get(item)
  if (json === undefined) {
    json = JSON.stringify(item)
    encoded.set(item, json)
  }
  return json
}
