import type { Preview } from '../rows.ts'

/** Streamed words of running turns, by turn. */
export function createPreviews() {
  const previews = new Map<string, { readonly text: string; readonly whole: boolean }>()
  const ended = new Set<string>()

  return {
    get list(): readonly Preview[] {
      return [...previews].map(([turnId, { text }]) => ({ turnId, text }))
    },
    append(turnId: string, text: string): void {
      const preview = previews.get(turnId)
      if (preview?.whole !== false) this.replace(turnId, (preview?.text ?? '') + text)
    },
    /** Sets all words so far: none as the turn begins, or the whole reply before its event arrives. */
    replace(turnId: string, text: string): void {
      if (!ended.has(turnId)) previews.set(turnId, { text, whole: true })
    },
    /** Removes the turn's preview and ignores its later updates. */
    end(turnId: string): void {
      ended.add(turnId)
      previews.delete(turnId)
    },
    /** On disconnect: words may go missing, so ignores `append` until the next `replace`. */
    interrupt(): void {
      for (const [turnId, { text }] of previews) previews.set(turnId, { text, whole: false })
    },
    clear(): void {
      previews.clear()
      ended.clear()
    },
  }
}
