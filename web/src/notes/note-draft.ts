export type Words = { readonly title: string; readonly content: string }
/** An unsaved edit of a note. `revision` is the note's revision when the edit began. */
export type Draft = Words & { readonly revision: number | null }

const draftKey = (id: string | null) => `delegate.note-draft.${id ?? 'new'}`

/** Keeps the draft in this tab until it is saved or the owner signs out. Null removes it. */
export function keepDraft(id: string | null, draft: Draft | null): void {
  try {
    if (draft === null) sessionStorage.removeItem(draftKey(id))
    else sessionStorage.setItem(draftKey(id), JSON.stringify(draft))
  } catch {
    // Storage is blocked or full. The page still warns before it is closed.
  }
}

/** This tab's draft of the note, or of a new note if `id` is null. Null if there is none. */
export function keptDraft(id: string | null): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(draftKey(id)) ?? 'null')
  } catch {
    return null
  }
}
