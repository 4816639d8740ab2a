import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { SearchHit } from '../../../src/http/contract/timeline.ts'
import { DialogElement } from '../app/dialog-element.ts'
import { type ListPage, moreView, PagedList } from '../app/paged-list.ts'
import { takeText } from '../design/field.ts'
import { markedText } from '../design/marked.ts'
import { msg } from '../design/msg.ts'
import { plainWords } from '../design/plain-text.ts'
import { signOfHit } from './event-icons.ts'
import { filterStyles, filtersView, narrowingOf, noFilters, type SearchFilters } from './search-filters.ts'
import {
  besideGroups,
  groupStyles,
  groupView,
  hitView,
  type SearchGroup,
  searchGroups,
} from './search-groups.ts'

const pageSize = 20

type Found = ListPage<SearchHit> & { readonly groups: readonly SearchGroup[] }

/** Searches the timeline, memories, reminders and imported conversations as the owner types. */
@customElement('dg-search-dialog')
export class DgSearchDialog extends DialogElement {
  static override readonly styles = [
    filterStyles,
    groupStyles,
    css`
      ul {
        padding: 2px;
      }
      .hit {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
        gap: 0.125rem var(--space-3);
        width: 100%;
        padding: var(--space-2) var(--space-3);
      }
      .hit dg-icon {
        margin-top: 0.15em;
        color: var(--ink-faint);
      }
      .snippet {
        unicode-bidi: plaintext;
        overflow-wrap: anywhere;
      }
      .facts {
        grid-column: 2;
      }
      .note {
        padding: var(--space-6) var(--space-4);
        color: var(--ink-soft);
        text-align: center;
      }
    `,
  ]
  @property({ attribute: false }) onHit!: (hit: SearchHit) => void
  @state() private filters: SearchFilters = noFilters
  private readonly found = new PagedList<SearchHit, Found>(this, {
    fetch: async ({ q, cursor, signal }) => {
      if (q === undefined && !this.isNarrowed) return { items: [], nextCursor: null, groups: [] }
      // The filters narrow the timeline, so they leave out the rest.
      const query = { ...narrowingOf(this.filters), q: q ?? '', limit: pageSize, cursor }
      const [groups, { hits, nextCursor }] = await Promise.all([
        cursor !== undefined ? this.groups : this.isNarrowed ? [] : searchGroups(this.app, query.q, signal),
        this.app.http.get('/api/timeline/search', { query, signal }),
      ])
      return { items: besideGroups(hits, groups), nextCursor, groups }
    },
  })

  private get groups(): readonly SearchGroup[] {
    return this.found.value?.groups ?? []
  }

  private get isNarrowed(): boolean {
    return Object.values(narrowingOf(this.filters)).some((filter) => filter !== null)
  }

  /** Searches for these words, once it is open. */
  find(words: string): void {
    this.found.search(words)
  }

  /** Debounced, because dates are typed too. */
  private readonly narrow = (filters: SearchFilters): void => {
    this.filters = filters
    this.found.search(this.found.query)
  }

  private readonly clearFilters = (): void => {
    this.filters = noFilters
    // The button that had the focus disappears.
    this.renderRoot.querySelector<HTMLElement>('.words')?.focus()
    void this.found.restart()
  }

  private choose(hit: SearchHit): void {
    this.close()
    this.onHit(hit)
  }

  private readonly openPage = (path: string): void => {
    this.close()
    this.app.navigate(path)
  }

  /** Enter opens the first hit, and searches first if the hits are stale. */
  private async chooseFirst(): Promise<void> {
    if (this.found.loading) await this.found.restart()
    await this.updateComplete
    // After a failed search, no hits are shown.
    if (this.isConnected) this.renderRoot.querySelector<HTMLElement>('.hit')?.click()
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && event.target instanceof Element && event.target.matches('.words')) {
      event.preventDefault()
      if (!event.isComposing) void this.chooseFirst()
      return
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    const stops = [...this.renderRoot.querySelectorAll<HTMLElement>('.words, .hit')]
    const at = stops.findIndex((stop) => stop.matches(':focus'))
    // In a filter, arrow keys change its value.
    if (at === -1) return
    event.preventDefault()
    stops[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus()
  }

  override render() {
    return html`<dg-dialog heading=${msg`Search`} wide>
      <div @keydown=${this.keyPressed}>
        <div class="input-with-icon">
          <dg-icon name="search"></dg-icon>
          <input
            class="input words"
            type="text"
            role="searchbox"
            autocomplete="off"
            aria-label=${msg`Search the timeline`}
            placeholder=${msg`Search messages, calls, notes, memories…`}
            maxlength="200"
            .value=${this.found.query}
            @input=${takeText((text) => this.found.search(text))}
          />
        </div>
        ${filtersView(this.filters, this.narrow)}
        <div class="results" role="region" aria-label=${msg`Results`} aria-live="polite">${this.resultsView()}</div>
      </div>
    </dg-dialog>`
  }

  private resultsView(): TemplateResult {
    const { items, loading, problem, query, reload } = this.found
    if (query.trim() === '' && !this.isNarrowed)
      return html`<p class="note">${msg`Search everything that you and Delegate wrote or said, memories, reminders and imported conversations. Or choose a period to see all of it.`}</p>`
    if (items.length === 0 && loading) return html`<p class="note">${msg`Searching…`}</p>`
    if (problem !== '')
      return html`<p class="note">
        ${problem}<br /><br />
        <button class="button small" @click=${reload}>${msg`Try again`}</button>
      </p>`
    const { groups } = this
    const isGrouped = groups.length > 0
    if (items.length === 0 && !isGrouped) return this.emptyView(query.trim())
    return html`
      ${groups.map((group) => groupView(group, this.openPage))}
      ${isGrouped && items.length > 0 ? html`<div class="group"><h3 class="subhead">${msg`Timeline`}</h3></div>` : nothing}
      ${
        items.length === 0
          ? nothing
          : html`<ul class="list" aria-label=${msg`Timeline`}>
              ${items.map((hit) => this.timelineHitView(hit))}
            </ul>`
      }
      ${moreView(this.found)}
    `
  }

  private emptyView(q: string): TemplateResult {
    if (!this.isNarrowed)
      return html`<p class="note">${msg`No results for “${q}”. Try fewer or different words.`}</p>`
    return html`<p class="note">
      ${q === '' ? msg`Nothing matches these filters.` : msg`No results for “${q}” with these filters.`}<br /><br />
      <button class="button small" @click=${this.clearFilters}>${msg`Clear filters`}</button>
    </p>`
  }

  private timelineHitView(hit: SearchHit): TemplateResult {
    const { icon, name } = signOfHit(hit)
    return hitView(icon, markedText(wordsOf(hit)), name, hit.at, () => this.choose(hit))
  }
}

/** Notes, tasks and the delegate's replies are markdown; other words are plain text. */
function wordsOf(hit: SearchHit): string {
  return /^(?:note|task|chat\.reply)\./.test(hit.type) ? plainWords(hit.marked) : hit.marked
}
