import type { Preview } from '../rows.ts'

/** Streamed words of running turns, by turn. */
export type Previews = {
  /** Keeps its identity until something changes. */
  readonly list: readonly Preview[]
  /** Starts the turn's preview, or restarts it. */
  begin(turnId: string): void
  append(turnId: string, text: string): void
  /** Sets the whole reply before its event arrives. */
  replace(turnId: string, text: string): void
  /** Removes the turn's preview and ignores its later updates. */
  end(turnId: string): void
  /** On disconnect: words may go missing, so ignores `append` until the next `begin` or `replace`. */
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
