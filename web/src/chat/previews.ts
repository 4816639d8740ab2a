import type { Preview } from '../timeline/rows.ts'

/** Replies that are being written, by their turns: a preview of facts to come. */
export type Previews = {
  /** The same array until something changes. */
  readonly list: readonly Preview[]
  /** The turn begins to write, or begins anew. */
  begin(turnId: string): void
  append(turnId: string, text: string): void
  /** The whole reply is there, its fact not yet. */
  replace(turnId: string, text: string): void
  /** The turn is over: what still comes of its preview is late. */
  end(turnId: string): void
  /** The connection was cut: what is said meanwhile will be missing, so the words wait for a new beginning. */
  interrupt(): void
  clear(): void
}

export function createPreviews(): Previews {
  const previews = new Map<string, { readonly text: string; readonly whole: boolean }>()
  const ended = new Set<string>()
  let list: readonly Preview[] | null = null

  function set(turnId: string, text: string, whole = true): void {
    previews.set(turnId, { text, whole })
    list = null
  }

  return {
    get list() {
      list ??= [...previews].map(([turnId, { text }]) => ({ turnId, text }))
      return list
    },
    begin(turnId) {
      if (!ended.has(turnId)) set(turnId, '')
    },
    append(turnId, text) {
      const preview = previews.get(turnId)
      if (!ended.has(turnId) && preview?.whole !== false) set(turnId, (preview?.text ?? '') + text)
    },
    replace(turnId, text) {
      if (!ended.has(turnId)) set(turnId, text)
    },
    end(turnId) {
      ended.add(turnId)
      if (previews.delete(turnId)) list = null
    },
    interrupt() {
      for (const [turnId, { text }] of previews) set(turnId, text, false)
    },
    clear() {
      previews.clear()
      ended.clear()
      list = null
    },
  }
}
