import type { Draft } from '../timeline/rows.ts'

/** Replies that are being written, by their turns: a preview of facts to come. */
export type Drafts = {
  /** The same array until something changes. */
  readonly list: readonly Draft[]
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

export function createDrafts(): Drafts {
  const drafts = new Map<string, { readonly text: string; readonly whole: boolean }>()
  const ended = new Set<string>()
  let list: readonly Draft[] | null = null

  function set(turnId: string, text: string, whole = true): void {
    drafts.set(turnId, { text, whole })
    list = null
  }

  return {
    get list() {
      list ??= [...drafts].map(([turnId, { text }]) => ({ turnId, text }))
      return list
    },
    begin(turnId) {
      if (!ended.has(turnId)) set(turnId, '')
    },
    append(turnId, text) {
      const draft = drafts.get(turnId)
      if (!ended.has(turnId) && draft?.whole !== false) set(turnId, (draft?.text ?? '') + text)
    },
    replace(turnId, text) {
      if (!ended.has(turnId)) set(turnId, text)
    },
    end(turnId) {
      ended.add(turnId)
      if (drafts.delete(turnId)) list = null
    },
    interrupt() {
      for (const [turnId, { text }] of drafts) set(turnId, text, false)
    },
    clear() {
      drafts.clear()
      ended.clear()
      list = null
    },
  }
}
