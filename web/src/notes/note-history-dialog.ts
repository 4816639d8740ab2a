import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { App } from '../app/app.ts'
import { explain } from '../data/http.ts'
import { fetchRevision, fetchRevisions, type Note, type NoteRevision, restoreNote } from '../data/notes.ts'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { problemView } from '../design/field.ts'
import { shortDateText } from '../design/format.ts'

/** Shows the revisions of a note and restores one. Fires `restored` with the note. */
@customElement('dg-note-history')
export class DgNoteHistory extends LitElement {
  static override readonly styles = [
    controls,
    css`
      .panes {
        display: grid;
        gap: var(--space-3);
      }
      @media (min-width: 40rem) {
        .panes {
          grid-template-columns: 15rem minmax(0, 1fr);
          min-height: 20rem;
        }
      }
      ol {
        display: grid;
        align-content: start;
        gap: 2px;
        max-height: 24rem;
        margin: 0;
        padding: 2px;
        list-style: none;
        overflow-y: auto;
      }
      @media (max-width: 40rem) {
        ol {
          max-height: 9rem;
        }
      }
      .revision {
        width: 100%;
        padding: var(--space-2) var(--space-3);
        border: 0;
        border-radius: var(--radius-md);
        background: none;
        color: var(--ink);
        font: inherit;
        text-align: start;
        cursor: pointer;
      }
      .revision:hover {
        background: var(--hover);
      }
      .revision[aria-pressed='true'] {
        background: var(--accent-soft);
        color: var(--on-accent-soft);
      }
      .revision span {
        display: block;
        font-size: var(--text-sm);
        opacity: 0.85;
      }
      pre {
        max-height: 24rem;
        margin: 0;
        padding: var(--space-3) var(--space-4);
        border: 1px solid var(--line);
        border-radius: var(--radius-md);
        background: var(--sunken);
        font: var(--text-sm) / 1.6 var(--font);
        overflow: auto;
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      .gone {
        align-self: center;
        color: var(--ink-soft);
        text-align: center;
      }
    `,
  ]
  @property({ attribute: false }) app!: App
  @property({ attribute: false }) note: {
    readonly id: string
    readonly title: string
    readonly revision: number
  } | null = null
  @state() private revisions: readonly NoteRevision[] | null = null
  /** The selected revision; `note` is null while it loads, undefined if it was erased. */
  @state() private shown: { readonly revision: number; readonly note: Note | null | undefined } | null = null
  @state() private busy = false
  @state() private problem = ''

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('note')) return
    this.revisions = null
    this.shown = null
    this.problem = ''
    if (this.note) void this.load(this.note.id)
  }

  private async load(id: string): Promise<void> {
    try {
      const revisions = await fetchRevisions(this.app.http, id)
      if (this.note?.id !== id) return
      this.revisions = revisions
      const [latest] = revisions
      if (latest) await this.show(latest.revision)
    } catch (error) {
      this.problem = explain(error)
    }
  }

  private async show(revision: number): Promise<void> {
    const { note } = this
    if (!note) return
    this.shown = { revision, note: null }
    // An erased revision is an expected outcome.
    const loaded = await fetchRevision(this.app.http, note.id, revision).catch(() => undefined)
    if (this.shown?.revision === revision) this.shown = { revision, note: loaded }
  }

  private readonly closed = (): void => {
    this.dispatchEvent(new Event('close'))
  }

  private readonly restore = async (): Promise<void> => {
    const { note, shown } = this
    if (!note || !shown || this.busy) return
    this.busy = true
    try {
      const restored = await restoreNote(this.app.http, note.id, shown.revision)
      this.app.toast(`Revision ${shown.revision} restored.`)
      this.closed()
      this.dispatchEvent(new CustomEvent('restored', { detail: restored }))
    } catch (error) {
      this.problem = explain(error)
    } finally {
      this.busy = false
    }
  }

  override render() {
    const { note, shown, revisions } = this
    const latest = revisions?.[0]?.revision
    return html`<dg-dialog heading="History" wide .open=${note !== null} @close=${this.closed}>
      ${
        revisions
          ? html`<div class="panes">
              <ol aria-label="Revisions">
                ${revisions.map((revision) => this.revisionView(revision, latest))}
              </ol>
              ${this.wordsView()}
            </div>`
          : html`<p role="status">Loading…</p>`
      }
      ${problemView(this.problem)}
      <div slot="actions">
        <button class="button" @click=${this.closed}>Close</button>
        <button
          class="button primary"
          ?disabled=${this.busy || !shown?.note || shown.revision === latest}
          @click=${() => void this.restore()}
        >
          Restore this revision
        </button>
      </div>
    </dg-dialog>`
  }

  private revisionView({ revision, at, source }: NoteRevision, latest: number | undefined): TemplateResult {
    return html`<li>
      <button
        class="revision"
        aria-pressed=${this.shown?.revision === revision}
        @click=${() => void this.show(revision)}
      >
        ${shortDateText(at)}
        <span>
          ${revision === latest ? 'current' : `revision ${revision}`}, by ${source === 'owner' ? 'you' : 'Delegate'}
        </span>
      </button>
    </li>`
  }

  private wordsView(): TemplateResult {
    const words = this.shown?.note
    if (words === undefined) return html`<p class="gone">The text of this revision was erased.</p>`
    return html`<pre tabindex="0" aria-label="Text of this revision">${words?.content ?? 'Loading…'}</pre>`
  }
}
