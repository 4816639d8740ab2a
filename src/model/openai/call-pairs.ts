import type { ResponseInputItem } from 'openai/resources/responses/responses'

/** Which call an item makes, or tells the result of; empty where that is not said, null for any other item. */
export function callIdOf(item: ResponseInputItem): string | null {
  if (item.type === 'function_call') return item.call_id
  return item.type === 'function_call_output' ? (item.call_id ?? '') : null
}

/** Without calls that lack their result, results that lack their call, and what comes again of a call or of one of `known`. */
export function withoutOrphans(
  items: readonly ResponseInputItem[],
  known: ReadonlySet<string>,
): ResponseInputItem[] {
  const called = new Set<string>()
  const returned = new Set<string>()
  for (const item of items) {
    const callId = callIdOf(item)
    if (callId) (item.type === 'function_call' ? called : returned).add(callId)
  }
  const seen = new Set<string>()
  return items.filter((item) => {
    const callId = callIdOf(item)
    if (callId === null) return true
    // A round whose blob holds the call may come with the call itself as well.
    const key = `${item.type} ${callId}`
    if (known.has(callId) || seen.has(key)) return false
    seen.add(key)
    return called.has(callId) && returned.has(callId)
  })
}

/** Whether each call has its result, and the reverse; those of `known` have. */
export function createPairs(known: ReadonlySet<string>) {
  const whole = new Set<string>()
  /** What each of the others has so far. */
  const halves = new Map<string, ResponseInputItem['type']>()
  return {
    add(item: ResponseInputItem): void {
      const id = callIdOf(item)
      if (!id || known.has(id) || whole.has(id)) return
      const half = halves.get(id)
      if (half === undefined) halves.set(id, item.type)
      else if (half !== item.type) {
        halves.delete(id)
        whole.add(id)
      }
    },
    areWhole: () => halves.size === 0,
  }
}
