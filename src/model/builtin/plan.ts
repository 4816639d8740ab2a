/** A tool that is to be called. */
export type Call = { readonly name: string; readonly args: Readonly<Record<string, unknown>> }

/** What a request comes to. The same text gives the same plan in every round of its turn. */
export type Plan =
  | { readonly kind: 'say'; readonly text: string }
  | {
      readonly kind: 'call'
      readonly call: Call
      readonly remark?: string
      /** The owner's own name or address is meant, and nobody else's. */
      readonly isOwn?: boolean
    }
  /** Timers that are not named: they have to be looked up before they can be cancelled. */
  | { readonly kind: 'cancel-timers'; readonly which: 'only' | 'all' }
  /** A question that memory or timeline may answer. `topic`: everything about it is wanted. */
  | { readonly kind: 'look-up'; readonly question: string; readonly isTopic: boolean }
  /** Said, not asked. */
  | { readonly kind: 'statement' }
  | { readonly kind: 'unknown' }
  /** Said in another language than English: a statement or a request, nobody knows. */
  | { readonly kind: 'foreign' }

/** What the words are understood by. */
export type Present = { readonly now: Date; readonly timezone: string }

export function call(name: string, args: Call['args'], remark?: string): Plan {
  return { kind: 'call', call: { name, args }, ...(remark === undefined ? {} : { remark }) }
}

export function say(text: string): Plan {
  return { kind: 'say', text }
}

/** A search of all channels, of all times or of some days. Without words: for all that was said then. */
export function timelineSearch(
  query: string | null,
  days: { readonly from: string; readonly to: string } | null = null,
): Call {
  return {
    name: 'search_timeline',
    args: { query, channel: null, from: days?.from ?? null, to: days?.to ?? null },
  }
}
