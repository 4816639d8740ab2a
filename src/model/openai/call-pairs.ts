import type { ResponseInputItem } from 'openai/resources/responses/responses'

/** The call id of a call or a result, empty if missing; null for any other item. */
function callIdOf(item: ResponseInputItem): string | null {
  if (item.type === 'function_call') return item.call_id
  return item.type === 'function_call_output' ? (item.call_id ?? '') : null
}

/** Drops unpaired calls and results, and duplicates of either. */
export function withoutOrphans(items: readonly ResponseInputItem[]): ResponseInputItem[] {
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
    // The blob of a round may repeat a call.
    const key = `${item.type} ${callId}`
    if (seen.has(key)) return false
    seen.add(key)
    return called.has(callId) && returned.has(callId)
  })
}
