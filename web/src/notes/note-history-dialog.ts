import { css, html, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { Note } from '../../../src/http/contract/notes.ts'
import type { AnswerOf } from '../api/routes.ts'
import { DialogElement } from '../app/dialog-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { problemView } from '../design/field.ts'
import { shortDateText } from '../design/format.ts'
import { msg } from '../design/msg.ts'

type NoteRevision = AnswerOf<'/api/notes/{id}/revisions'>['revisions'][number]

/** Shows the revisions of a note and restores one. */
@customElement('dg-note-history')
export class DgNoteHistory extends DialogElement {
  static override readonly styles = css`
    @media (min-width: 40rem) {
      .panes {
        grid-template-columns: 15rem minmax(0, 1fr);
        min-height: 20rem;
      }
    }
    ol {
      align-content: start;
      gap: 2px;
      max-height: 24rem;
      padding: 2px;
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
    }
    .revision span {
      display: block;
      font-size: var(--text-sm);
      opacity: 0.85;
    }
    pre {
      max-height: 24rem;
      font-family: var(--font);
    }
    .gone {
      align-self: center;
      color: var(--ink-soft);
      text-align: center;
    }
  `
  @property({ attribute: false }) note!: { readonly id: string }
  @property({ attribute: false }) onRestored!: (note: Note) => void
  private readonly revisions = new Loaded<readonly NoteRevision[]>(this, {
    fetch: async () => {
      const { id } = this.note
      const { revisions } = await this.app.http.get('/api/notes/{id}/revisions', { params: { id } })
      const [latest] = revisions
      if (latest) await this.show(latest.revision)
      return revisions
    },
  })
  /** The selected revision; `note` is null while it loads, undefined if it was erased. */
  @state() private shown: { readonly revision: number; readonly note: Note | null | undefined } | null = null

  private async show(revision: number): Promise<void> {
    this.shown = { revision, note: null }
    // An erased revision is an expected outcome.
    const note = await this.app.http
      .get('/api/notes/{id}/revisions/{revision}', { params: { id: this.note.id, revision } })
      .catch(() => undefined)
    if (this.shown.revision === revision) this.shown = { revision, note }
  }

  private async restore(revision: number): Promise<void> {
    const isRestored = await this.submission.send(async () => {
      const { id } = this.note
      this.onRestored(
        await this.app.http.post('/api/notes/{id}/restore', { params: { id }, body: { revision } }),
      )
      this.app.toast(msg`Revision ${revision} restored.`)
    })
    if (isRestored) this.close()
  }

  override render() {
    const { shown } = this
    const { busy, problem } = this.submission
    const latest = this.revisions.value?.[0]?.revision
    return html`<dg-dialog heading=${msg`History`} wide>
      ${loadedView(
        this.revisions,
        msg`the history`,
        (revisions) => html`<div class="stack panes">
          <ol class="list" aria-label=${msg`Revisions`}>
            ${revisions.map((revision) => this.revisionView(revision, latest))}
          </ol>
          ${this.wordsView()}
        </div>`,
      )}
      ${problemView(problem)}
      <div slot="actions">
        <button class="button" @click=${this.close}>${msg`Close`}</button>
        <button
          class="button primary"
          ?disabled=${busy || !shown?.note || shown.revision === latest}
          @click=${() => shown && void this.restore(shown.revision)}
        >
          ${msg`Restore this revision`}
        </button>
      </div>
    </dg-dialog>`
  }

  private revisionView({ revision, at, source }: NoteRevision, latest: number | undefined): TemplateResult {
    return html`<li>
      <button
        class="revision flat"
        aria-pressed=${this.shown?.revision === revision}
        @click=${() => void this.show(revision)}
      >
        ${shortDateText(at)}
        <span>
          ${revision === latest ? msg`current` : msg`revision ${revision}`}, ${source === 'owner' ? msg`by you` : msg`by Delegate`}
        </span>
      </button>
    </li>`
  }

  private wordsView(): TemplateResult {
    const words = this.shown?.note
    if (words === undefined) return html`<p class="gone">${msg`The text of this revision was erased.`}</p>`
    return html`<pre tabindex="0" aria-label=${msg`Text of this revision`}>${words?.content ?? msg`Loading…`}</pre>`
  }
}
