export type Words = { readonly title: string; readonly content: string }
/** What is written of a note and not saved yet. `revision`: that of the note which it began from. */
export type Draft = Words & { readonly revision: number | null }

const draftKey = (id: string | null) => `delegate.note-draft.${id ?? 'new'}`

/** Kept in this tab alone, until it is saved or the owner signs out; null forgets it. */
export function keepDraft(id: string | null, draft: Draft | null): void {
  try {
    if (draft === null) sessionStorage.removeItem(draftKey(id))
    else sessionStorage.setItem(draftKey(id), JSON.stringify(draft))
  } catch {
    // Storage is blocked or full: the page still asks before it is left.
  }
}

/** What this tab kept of the note, or of the one that is not there yet; null where it kept nothing that can be read. */
export function keptDraft(id: string | null): Draft | null {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(draftKey(id)) ?? 'null')
    if (typeof kept !== 'object' || kept === null || !('title' in kept) || !('content' in kept)) return null
    const { title, content } = kept
    if (typeof title !== 'string' || typeof content !== 'string') return null
    const revision = 'revision' in kept && typeof kept.revision === 'number' ? kept.revision : null
    return { title, content, revision }
  } catch {
    return null
  }
}
