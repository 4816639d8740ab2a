import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { NoteSummary } from '../../../src/http/contract/notes.ts'
import { AppElement } from '../app/app-element.ts'
import { copyWithToast } from '../app/copy.ts'
import { askToErase } from '../app/erase-dialog.ts'
import { loadedView } from '../app/loaded.ts'
import { firstItems } from '../app/offline-copy.ts'
import { moreView, PagedList, searchField } from '../app/paged-list.ts'
import { fullTimeText, relativeText } from '../design/format.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import { noteSummary } from '../design/plain-text.ts'
import { DgNoteHistory } from './note-history-dialog.ts'

/** All notes, with a search as you type. */
@customElement('dg-notes-page')
export class DgNotesPage extends AppElement {
  static override readonly styles = css`
    ul.cards > li {
      position: relative;
    }
    ul.cards > li:hover {
      border-color: var(--line-strong);
    }
    .title {
      color: inherit;
      font-weight: 600;
      text-decoration: none;
    }
    /* The link covers the whole card. Other controls lie above it. */
    .title::after {
      position: absolute;
      inset: 0;
      border-radius: var(--radius-md);
      content: '';
    }
    .title:focus-visible {
      outline: none;
    }
    .title:focus-visible::after {
      outline: 2px solid var(--accent);
      outline-offset: 2px;
    }
    dg-menu {
      position: relative;
      z-index: 1;
    }
    .excerpt {
      margin: 0.125rem 0 var(--space-1);
      color: var(--ink-soft);
    }
  `
  @state() private deleted: boolean = new URLSearchParams(location.search).has('deleted')
  private readonly notes = new PagedList<NoteSummary>(this, {
    fetch: async ({ signal, ...query }) => {
      const { notes, nextCursor } = await this.app.http.get('/api/notes', {
        query: { limit: firstItems.notes, deleted: this.deleted ? 'true' : 'false', ...query },
        signal,
      })
      return { items: notes, nextCursor }
    },
    concerns: (type) => type.startsWith('note.') || type.startsWith('eras'),
  })

  private async discard(note: NoteSummary): Promise<void> {
    await this.app.http.del('/api/notes/{id}', { params: { id: note.id } })
    this.app.offerUndo(msg`Deleted. You can restore it until you erase it.`, () => this.restore(note))
    await this.notes.reload()
  }

  private async restore(note: NoteSummary): Promise<void> {
    const { id, revision } = note
    await this.app.http.post('/api/notes/{id}/restore', { params: { id }, body: { revision } })
    this.app.toast(msg`Note restored.`)
    await this.notes.reload()
  }

  private showHistory(note: NoteSummary): void {
    Object.assign(new DgNoteHistory(), { note, onRestored: this.notes.reload }).openIn(this)
  }

  private items(note: NoteSummary): MenuItem[] {
    const name = note.title || msg`Untitled`
    const erase = () =>
      askToErase(this, {
        heading: msg`Erase “${shortened(name)}”?`,
        target: { kind: 'note', id: note.id },
        onChange: this.notes.reload,
      })
    const erasing: MenuItem = { label: msg`Erase for good…`, icon: 'erased', danger: true, run: erase }
    if (this.deleted)
      return [
        { label: msg`Restore`, icon: 'retry', run: () => void this.app.attempt(() => this.restore(note)) },
        erasing,
      ]
    return [
      { label: msg`Edit`, icon: 'edit', run: () => this.app.navigate(`/notes/edit?id=${note.id}`) },
      {
        label: msg`Copy link`,
        icon: 'link',
        run: () =>
          void copyWithToast(`${location.origin}/notes/${note.id}`, msg`Link copied`, this.app.toast),
      },
      { label: msg`History`, icon: 'timeline', run: () => this.showHistory(note) },
      { label: msg`Delete`, icon: 'trash', run: () => void this.app.attempt(() => this.discard(note)) },
      erasing,
    ]
  }

  override render() {
    const { notes } = this
    return html`<dg-page heading=${msg`Notes`}>
      <a slot="tools" class="button primary small" href="/notes/edit"><dg-icon name="plus"></dg-icon>${msg`New note`}</a>
      ${loadedView(
        notes,
        msg`the notes`,
        ({ items }) => html`
          <div class="beside find">
            ${searchField(notes, msg`Search notes`)}
            <button
              class="button"
              aria-pressed=${this.deleted}
              @click=${() => {
                this.deleted = !this.deleted
                void notes.restart()
              }}
            >
              <dg-icon name="trash"></dg-icon>${msg`Deleted`}
            </button>
          </div>
          ${items.length > 0 ? this.itemsView(items) : notes.loading ? nothing : this.emptyView()}
        `,
      )}
    </dg-page>`
  }

  private emptyView(): TemplateResult {
    if (this.notes.query.trim() !== '') {
      return html`<dg-state icon="search" heading=${msg`No matching notes`}>
        <p>${msg`Every word must appear in the title or the text. The last word may be incomplete.`}</p>
      </dg-state>`
    }
    if (this.deleted) {
      return html`<dg-state icon="trash" heading=${msg`No deleted notes`}>
        <p>${msg`You can restore deleted notes here until you erase them.`}</p>
      </dg-state>`
    }
    return html`<dg-state icon="note" heading=${msg`No notes yet`}>
      <p>${msg`Write one, or tell Delegate: “Make a note of that.” Long answers become notes automatically.`}</p>
      <a class="button primary" href="/notes/edit">${msg`Write a note`}</a>
    </dg-state>`
  }

  private itemsView(items: readonly NoteSummary[]): TemplateResult {
    return html`
      <ul class="list cards" aria-label=${this.deleted ? msg`Deleted notes` : msg`Notes`}>
        ${items.map((note) => this.noteView(note))}
      </ul>
      ${moreView(this.notes)}
    `
  }

  private noteView(note: NoteSummary): TemplateResult {
    const { id, title, excerpt, source, updatedAt } = note
    const name = title || msg`Untitled`
    return html`<li class=${this.deleted ? 'over' : ''}>
      <div class="what">
        ${
          this.deleted
            ? html`<p class="title-text">${name}</p>`
            : html`<p><a class="title" href="/notes/${id}">${name}</a></p>`
        }
        <p class="excerpt clamped">${noteSummary(excerpt, title)}</p>
        <p class="facts">
          <span>${source === 'owner' ? msg`by you` : msg`by Delegate`}</span>
          <time datetime=${updatedAt} title=${fullTimeText(updatedAt)}>${relativeText(updatedAt)}</time>
        </p>
      </div>
      <dg-menu label=${msg`More for ${name}`} .items=${this.items(note)}></dg-menu>
    </li>`
  }
}

function shortened(name: string): string {
  return name.length <= 40 ? name : `${name.slice(0, 40).trimEnd()}…`
}
