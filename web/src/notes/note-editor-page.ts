import { html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { guard } from 'lit/directives/guard.js'
import type { Note } from '../../../src/http/contract/notes.ts'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { explain, Refused } from '../api/http.ts'
import { AppElement } from '../app/app-element.ts'
import { copyWithToast } from '../app/copy.ts'
import { askToErase } from '../app/erase-dialog.ts'
import { failedView } from '../app/loaded.ts'
import { isModKey, modName } from '../app/shortcuts.ts'
import { keep, kept, noteDrafts } from '../app/tab-storage.ts'
import { problemView, takeText } from '../design/field.ts'
import { createMarkdown } from '../design/markdown.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import { prose } from '../design/prose.ts'
import { hasCheckboxes, makeTickable, toggleCheckbox } from './checkboxes.ts'
import { noteEditorStyles } from './note-editor-styles.ts'
import { DgNoteHistory } from './note-history-dialog.ts'

type Words = { readonly title: string; readonly content: string }
/** An unsaved edit of a note. `revision` is the note's revision when the edit began. */
type Draft = Words & { readonly revision: number | null }

/** The key of this tab's draft of a note, or of a new one if `id` is null. */
const draftKey = (id: string | null) => `${noteDrafts}${id ?? 'new'}`

/** Editor for a note, with a preview. Keeps unsaved edits in this tab. */
@customElement('dg-note-editor-page')
export class DgNoteEditorPage extends AppElement {
  static override readonly styles = [prose, noteEditorStyles]
  /** The saved note; null for a new one, or if it was deleted elsewhere. */
  @state() private note: Note | null = null
  /** The note that the draft is kept for; null for a new one. */
  private keptFor: string | null = null
  @state() private draft: Draft = { title: '', content: '', revision: null }
  @state() private state: 'loading' | 'ready' | 'missing' | 'failed' = 'loading'
  @state() private previewing = false
  @state() private busy = false
  /** What happened to the note elsewhere since it was loaded. */
  @state() private elsewhere: 'changed' | 'deleted' | null = null
  @state() private problem = ''
  private savingTicks = false
  private readonly markdown = createMarkdown((code) => void copyWithToast(code, msg`Copied`, this.app.toast))

  protected override connected(signal: AbortSignal): void {
    const leaving = (event: BeforeUnloadEvent) => {
      if (this.isChanged()) event.preventDefault()
    }
    addEventListener('keydown', this.keyPressed, { signal })
    addEventListener('beforeunload', leaving, { signal })
    signal.addEventListener('abort', this.app.chat().follow(this.changedElsewhere))
    void this.load()
  }

  /** Shows a later revision at once, or warns of it if something is unsaved. */
  private readonly changedElsewhere = ({ payload }: TimelineEvent): void => {
    const { note } = this
    const isLater = note !== null && payload.noteId === note.id && Number(payload.revision) > note.revision
    if (!isLater || this.busy) return
    void this.app.attempt(async () => {
      const latest = await this.latest(note.id)
      if (this.isChanged()) this.elsewhere = 'changed'
      else this.takeInstead(latest)
    })
  }

  private readonly latest = (id: string): Promise<Note> =>
    this.app.http.get('/api/notes/{id}', { params: { id } })

  private async load(): Promise<void> {
    const asked = new URLSearchParams(location.search)
    const id = asked.get('id')
    const unsaved = kept<Draft>(draftKey(id))
    this.keptFor = id
    this.state = 'loading'
    try {
      const note = id === null ? null : await this.latest(id)
      this.take(note)
      if (unsaved) this.draft = unsaved
      else this.previewing = hasCheckboxes(this.markdown(this.draft.content))
      const isStale = note && unsaved && (unsaved.revision ?? note.revision) !== note.revision
      this.elsewhere = isStale ? 'changed' : null
      this.state = 'ready'
      await this.updateComplete
      if (id === null) this.renderRoot.querySelector<HTMLElement>('#title')?.focus()
      else this.focusText()
      if (note && asked.has('history')) this.showHistory(note)
    } catch (error) {
      if (isMissing(error) && unsaved) {
        this.draft = unsaved
        this.takeDeletion()
        this.state = 'ready'
        return
      }
      this.problem = explain(error)
      this.state = isMissing(error) ? 'missing' : 'failed'
    }
  }

  /** What was typed is then saved as a new note. */
  private takeDeletion(): void {
    this.note = null
    this.elsewhere = 'deleted'
  }

  /** Puts the cursor at the beginning, so that a long text does not open at its end. */
  private focusText(): void {
    const text = this.renderRoot.querySelector('textarea')
    text?.setSelectionRange(0, 0)
    text?.focus({ preventScroll: true })
  }

  private take(note: Note | null): void {
    this.note = note
    this.keptFor = note?.id ?? null
    this.draft = {
      title: note?.title ?? '',
      content: note?.content ?? '',
      revision: note?.revision ?? null,
    }
    this.elsewhere = null
    this.problem = ''
  }

  private isChanged(): boolean {
    const { title, content } = this.draft
    return (
      this.state === 'ready' && (title !== (this.note?.title ?? '') || content !== (this.note?.content ?? ''))
    )
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (!isModKey(event, 's')) return
    event.preventDefault()
    void this.save()
  }

  private typed(change: Partial<Words>): void {
    this.draft = { ...this.draft, ...change }
    keep(draftKey(this.keptFor), this.isChanged() ? this.draft : null)
  }

  /** `overwrite` saves even if the note was changed elsewhere. */
  private readonly save = async (overwrite = false): Promise<void> => {
    const { note, draft } = this
    if (this.busy || !this.isChanged()) return
    if (draft.content === '') {
      this.problem = msg`A note needs some text.`
      return
    }
    this.busy = true
    this.problem = ''
    try {
      const title = draft.title.trim()
      const { content } = draft
      const saved = note
        ? await this.app.http.put('/api/notes/{id}', {
            params: { id: note.id },
            body: { title, content },
            ...(overwrite || draft.revision === null
              ? {}
              : { headers: { 'if-match': `"${draft.revision}"` } }),
          })
        : await this.app.http.post('/api/notes', { body: { content, ...(title === '' ? {} : { title }) } })
      keep(draftKey(this.keptFor), null)
      // Keep what was typed while the request was in progress.
      const later = this.draft === draft ? null : this.draft
      this.take(saved)
      if (later) this.typed({ title: later.title, content: later.content })
      if (!note) history.replaceState(null, '', `/notes/edit?id=${saved.id}`)
    } catch (error) {
      if (isMissing(error)) this.takeDeletion()
      else if (error instanceof Refused && error.problem.code === 'stale_revision') this.elsewhere = 'changed'
      else this.problem = explain(error)
      await this.updateComplete
      // In a long note it is out of sight.
      this.renderRoot.querySelector('[role="alert"]')?.scrollIntoView({ block: 'center' })
    } finally {
      this.busy = false
    }
  }

  /** Ticks a box of the preview. Saves at once, unless something else is unsaved. */
  private async tick(place: number): Promise<void> {
    const isSavedLater = this.savingTicks || this.busy || this.isChanged()
    this.typed({ content: toggleCheckbox(this.draft.content, place, this.markdown) })
    await this.updateComplete
    this.renderRoot.querySelectorAll<HTMLElement>('.task input')[place]?.focus()
    if (isSavedLater) return
    this.savingTicks = true
    // Another box may be ticked meanwhile.
    while (this.isChanged() && this.problem === '' && this.elsewhere === null) await this.save()
    this.savingTicks = false
  }

  private loadOther(id: string): void {
    void this.app.attempt(async () => {
      this.takeInstead(await this.latest(id))
      this.focusText()
    })
  }

  /** Replaces the note in the editor and offers to restore the unsaved text. */
  private takeInstead(other: Note): void {
    const aside = this.isChanged() ? this.draft : null
    keep(draftKey(other.id), null)
    this.take(other)
    if (!aside) return
    const { title, content } = aside
    this.app.toast(msg`Your unsaved text was set aside.`, 'done', {
      shownForMs: 10_000,
      actions: [{ label: msg`Restore it`, run: () => this.typed({ title, content }) }],
    })
  }

  private async discard(note: Note): Promise<void> {
    // Undo also restores the unsaved text and the warning about a change elsewhere.
    const unsaved = this.isChanged() ? this.draft : null
    const isStale = this.elsewhere === 'changed'
    await this.app.http.del('/api/notes/{id}', { params: { id: note.id } })
    this.forget(note.id)
    this.app.offerUndo(msg`Deleted. You can restore it until you erase it.`, () =>
      this.restore(note, unsaved, isStale),
    )
  }

  private async restore(note: Note, unsaved: Draft | null, isStale: boolean): Promise<void> {
    const { revision } = await this.app.http.post('/api/notes/{id}/restore', {
      params: { id: note.id },
      body: { revision: note.revision },
    })
    if (unsaved) keep(draftKey(note.id), isStale ? unsaved : { ...unsaved, revision })
    this.app.toast(msg`Note restored.`)
  }

  /** Drops the note and its draft, and leaves the editor. */
  private forget(id: string): void {
    keep(draftKey(id), null)
    this.take(null)
    this.app.navigate('/notes')
  }

  private showHistory(note: Note): void {
    Object.assign(new DgNoteHistory(), {
      note,
      onRestored: (restored: Note) => this.takeInstead(restored),
    }).openIn(this)
  }

  private items(note: Note): MenuItem[] {
    const erase = () =>
      askToErase(this, {
        heading: msg`Erase this note?`,
        target: { kind: 'note', id: note.id },
        onErasing: () => this.forget(note.id),
      })
    return [
      { label: msg`Open`, icon: 'note', run: () => location.assign(`/notes/${note.id}`) },
      {
        label: msg`Copy link`,
        icon: 'link',
        run: () =>
          void copyWithToast(`${location.origin}/notes/${note.id}`, msg`Link copied`, this.app.toast),
      },
      { label: msg`History`, icon: 'timeline', run: () => this.showHistory(note) },
      { label: msg`Delete`, icon: 'trash', run: () => void this.app.attempt(() => this.discard(note)) },
      { label: msg`Erase for good…`, icon: 'erased', danger: true, run: erase },
    ]
  }

  override render() {
    const { note } = this
    return html`
      <dg-page heading=${note ? msg`Note` : msg`New note`}>
        <a slot="back" class="button quiet icon small" href="/notes" aria-label=${msg`All notes`} title=${msg`All notes`}>
          <dg-icon name="back"></dg-icon>
        </a>
        ${this.state === 'ready' ? this.toolsView() : nothing} ${this.contentView()}
      </dg-page>
    `
  }

  private toolsView(): TemplateResult {
    const changed = this.isChanged()
    const status = this.busy ? msg`Saving…` : changed ? msg`Not saved yet` : this.note ? msg`Saved` : ''
    return html`
      <span slot="tools" class="status soft" role="status">${status}</span>
      <button
        slot="tools"
        class="button small"
        aria-pressed=${this.previewing}
        @click=${() => (this.previewing = !this.previewing)}
      >
        <dg-icon name=${this.previewing ? 'edit' : 'show'}></dg-icon>
        <span class="view">${this.previewing ? msg`Write` : msg`Preview`}</span>
      </button>
      <button
        slot="tools"
        class="button primary small"
        title="${modName} S"
        ?disabled=${this.busy || !changed}
        @click=${() => void this.save()}
      >
        ${msg`Save`}
      </button>
      ${
        this.note
          ? html`<dg-menu slot="tools" label=${msg`More for this note`} .items=${this.items(this.note)}></dg-menu>`
          : nothing
      }
    `
  }

  private contentView(): TemplateResult {
    if (this.state === 'loading') return html`<p role="status">${msg`Loading…`}</p>`
    if (this.state === 'missing') {
      return html`<dg-state icon="note" heading=${msg`Note not found`}>
        <p>${msg`It may have been deleted.`}</p>
        <a class="button" href="/notes">${msg`Go to notes`}</a>
      </dg-state>`
    }
    if (this.state === 'failed') return failedView(msg`the note`, this.problem, () => this.load())
    return html`
      ${this.elsewhereView()} ${problemView(this.problem)}
      <div class="editor ${this.previewing ? 'previewing' : ''}">
        <div class="write">
          <input
            class="title"
            id="title"
            aria-label=${msg`Title`}
            placeholder=${msg`Title`}
            maxlength="200"
            dir="auto"
            autocomplete="off"
            .value=${this.draft.title}
            @input=${takeText((title) => this.typed({ title }))}
          />
          <textarea
            class="content"
            id="content"
            aria-label=${msg`Text, in markdown`}
            dir="auto"
            placeholder=${msg`Write in markdown…`}
            .value=${this.draft.content}
            @input=${takeText((content) => this.typed({ content }))}
          ></textarea>
        </div>
        ${this.previewing ? this.previewView() : nothing}
      </div>
    `
  }

  private previewView(): TemplateResult {
    const { title, content } = this.draft
    return html`<section class="preview" aria-label=${msg`Preview`}>
      ${title === '' ? nothing : html`<h2>${title}</h2>`}
      <div class="prose">${guard([content], () => makeTickable(this.markdown(content), (place) => void this.tick(place)))}</div>
    </section>`
  }

  private elsewhereView(): TemplateResult | typeof nothing {
    const { elsewhere, note } = this
    if (elsewhere === 'deleted')
      return warningView(
        msg`This note was deleted elsewhere. You can keep your text as a new note.`,
        html`<button class="button small" ?disabled=${this.busy} @click=${() => void this.save()}>${msg`Save as a new note`}</button>`,
      )
    if (elsewhere === null || note === null) return nothing
    return warningView(
      msg`This note was changed elsewhere since you opened it. If you overwrite it, the other version stays in its history.`,
      html`<button class="button small" @click=${() => void this.save(true)}>${msg`Overwrite with mine`}</button>
        <button class="button small" @click=${() => this.loadOther(note.id)}>${msg`Load the other version`}</button>`,
    )
  }
}

function warningView(words: string, actions: TemplateResult): TemplateResult {
  return html`<div class="callout warning elsewhere" role="alert">
    <dg-icon name="warning"></dg-icon>
    <div>
      <p>${words}</p>
      <div class="actions">${actions}</div>
    </div>
  </div>`
}

const isMissing = (error: unknown): boolean => error instanceof Refused && error.problem.status === 404
