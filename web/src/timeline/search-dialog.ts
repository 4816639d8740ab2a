import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { SearchHit } from '../../../src/http/contract/timeline.ts'
import { explain } from '../api/http.ts'
import type { AnswerOf, Http } from '../api/routes.ts'
import { controls } from '../design/controls.ts'
import { DialogElement } from '../design/dialog.ts'
import '../design/icon.ts'
import { fullTimeText, shortDateText } from '../design/format.ts'
import { plainWords } from '../notes/plain-text.ts'
import { signOfHit } from './event-icons.ts'
import {
  filterStyles,
  filtersView,
  filterWords,
  narrowingOf,
  noFilters,
  type SearchFilters,
} from './search-filters.ts'

const typingPauseMs = 180
const pageSize = 20

type FoundPage = AnswerOf<'/api/timeline/search'>

type Found =
  | { readonly state: 'none' }
  | { readonly state: 'loading'; readonly hits: readonly SearchHit[] }
  | ({ readonly state: 'found'; readonly asked: Asked } & FoundPage)
  | { readonly state: 'failed'; readonly reason: string }

/** The query behind the current hits; the next page uses the same one. */
type Asked = { readonly q: string; readonly filters: SearchFilters }

/** Searches the timeline as the owner types. */
@customElement('dg-search-dialog')
export class DgSearchDialog extends DialogElement {
  static override readonly styles = [
    controls,
    filterStyles,
    css`
      .results {
        height: min(26rem, 55dvh);
        margin: var(--space-3) calc(-1 * var(--space-3)) 0;
        overflow-y: auto;
      }
      ul {
        padding: 2px;
      }
      .hit {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
        gap: 0.125rem var(--space-3);
        width: 100%;
        padding: var(--space-2) var(--space-3);
        border: 0;
        border-radius: var(--radius-md);
        background: none;
        color: var(--ink);
        font: 400 var(--text-md) / 1.45 var(--font);
        text-align: start;
        cursor: pointer;
      }
      .hit:hover,
      .hit:focus-visible {
        background: var(--hover);
      }
      .hit dg-icon {
        margin-top: 0.15em;
        color: var(--ink-faint);
      }
      .snippet {
        unicode-bidi: plaintext;
        overflow-wrap: anywhere;
      }
      .about {
        display: flex;
        flex-wrap: wrap;
        grid-column: 2;
        color: var(--ink-soft);
        font-size: var(--text-xs);
      }
      .about time::before {
        margin: 0 0.4em;
        content: '·' / '';
      }
      mark {
        border-radius: 3px;
        background: var(--mark);
        color: inherit;
      }
      .note {
        padding: var(--space-6) var(--space-4);
        color: var(--ink-soft);
        text-align: center;
      }
    `,
  ]
  @property({ attribute: false }) http!: Http
  @property({ attribute: false }) onHit!: (hit: SearchHit) => void
  @state() query = ''
  @state() filters: SearchFilters = noFilters
  @state() found: Found = { state: 'none' }
  private timer: ReturnType<typeof setTimeout> | undefined
  private running: AbortController | null = null

  private readonly typed = (event: Event): void => {
    if (!(event.target instanceof HTMLInputElement)) return
    this.query = event.target.value
    this.searchSoon()
  }

  /** Debounced, because dates are typed too. */
  private readonly narrow = (filters: SearchFilters): void => {
    this.filters = filters
    this.searchSoon()
  }

  private readonly clearFilters = (): void => {
    clearTimeout(this.timer)
    this.filters = noFilters
    // The button that had the focus disappears.
    this.renderRoot.querySelector<HTMLElement>('.words')?.focus()
    void this.search(null)
  }

  private searchSoon(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.search(null), typingPauseMs)
  }

  private async search(cursor: string | null): Promise<void> {
    this.running?.abort()
    const earlier = cursor !== null && this.found.state === 'found' ? this.found : null
    const asked = earlier?.asked ?? { q: this.query.trim(), filters: this.filters }
    if (asked.q === '') {
      this.running = null
      this.found = { state: 'none' }
      return
    }
    const before = earlier?.hits ?? []
    const narrowing = earlier
      ? { channel: asked.filters.channel, from: earlier.from, to: earlier.to }
      : narrowingOf(asked.filters)
    const mine = new AbortController()
    this.running = mine
    this.found = { state: 'loading', hits: before }
    try {
      const page = await this.http.get('/api/timeline/search', {
        query: { ...narrowing, q: asked.q, limit: pageSize, cursor },
        signal: mine.signal,
      })
      if (this.running === mine)
        this.found = { state: 'found', asked, ...page, hits: [...before, ...page.hits] }
    } catch (error) {
      if (this.running === mine) this.found = { state: 'failed', reason: explain(error) }
    }
  }

  private choose(hit: SearchHit): void {
    this.close()
    this.onHit(hit)
  }

  /** Enter opens the first hit, and searches first if the hits are stale. */
  private async chooseFirst(): Promise<void> {
    const { found } = this
    const isCurrent = found.state === 'found' && found.asked.q === this.query.trim()
    if (!isCurrent || found.asked.filters !== this.filters) {
      clearTimeout(this.timer)
      await this.search(null)
    }
    const [first] = this.found.state === 'found' ? this.found.hits : []
    if (first && this.isConnected) this.choose(first)
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
    return html`<dg-dialog heading="Search" wide>
      <div @keydown=${this.keyPressed}>
        <div class="input-with-icon">
          <dg-icon name="search"></dg-icon>
          <input
            class="input words"
            type="text"
            role="searchbox"
            autocomplete="off"
            aria-label="Search the timeline"
            placeholder="Search messages, calls, texts and notes"
            maxlength="200"
            autofocus
            .value=${this.query}
            @input=${this.typed}
          />
        </div>
        ${filtersView(this.filters, this.narrow)}
        <div class="results" role="region" aria-label="Results" aria-live="polite">${this.resultsView()}</div>
      </div>
    </dg-dialog>`
  }

  private resultsView(): TemplateResult {
    const { found } = this
    switch (found.state) {
      case 'none':
        return html`<p class="note">Search everything that you and Delegate wrote or said.</p>`
      case 'failed':
        return html`<p class="note">
          ${found.reason}<br /><br />
          <button class="button small" @click=${() => void this.search(null)}>Try again</button>
        </p>`
      case 'loading':
        return found.hits.length === 0
          ? html`<p class="note">Searching…</p>`
          : this.listView(found.hits, null)
      case 'found':
        return found.hits.length === 0
          ? this.emptyView(found.asked)
          : this.listView(found.hits, found.nextCursor)
    }
  }

  private emptyView({ q, filters }: Asked): TemplateResult {
    const narrowedTo = filterWords(filters)
    return narrowedTo === ''
      ? html`<p class="note">No results for “${q}”. Try fewer or different words.</p>`
      : html`<p class="note">
          No results for “${q}” ${narrowedTo}.<br /><br />
          <button class="button small" @click=${this.clearFilters}>Clear filters</button>
        </p>`
  }

  private listView(hits: readonly SearchHit[], nextCursor: string | null): TemplateResult {
    return html`
      <ul class="list">
        ${hits.map((hit) => this.hitView(hit))}
      </ul>
      ${
        nextCursor === null
          ? nothing
          : html`<p class="note">
              <button class="button small" @click=${() => void this.search(nextCursor)}>Show more</button>
            </p>`
      }
    `
  }

  private hitView(hit: SearchHit): TemplateResult {
    const { icon, name } = signOfHit(hit)
    return html`<li>
      <button class="hit" @click=${() => this.choose(hit)}>
        <dg-icon name=${icon}></dg-icon>
        <span class="snippet clamped">${marked(wordsOf(hit), this.query)}</span>
        <span class="about">
          <span>${name}</span><time datetime=${hit.at} title=${fullTimeText(hit.at)}>${shortDateText(hit.at)}</time>
        </span>
      </button>
    </li>`
  }
}

/** Notes, tasks and the delegate's replies are markdown; other words are plain text. */
function wordsOf(hit: SearchHit): string {
  return /^(?:note|task|chat\.reply)\./.test(hit.type) ? plainWords(hit.marked) : hit.marked
}

/** The snippet as text nodes, with matches in <mark>. */
function marked(snippet: string, query: string): (string | TemplateResult)[] {
  return pieces(snippet, query).map((piece, index) => (index % 2 === 1 ? html`<mark>${piece}</mark>` : piece))
}

/** Alternates unmatched and matched text. The service may delimit matches with U+0002 and U+0003. */
function pieces(snippet: string, query: string): readonly string[] {
  const [start, end] = [String.fromCharCode(2), String.fromCharCode(3)]
  if (snippet.includes(start)) return snippet.split(start).flatMap((part) => part.split(end))
  const words = query.trim().split(/\s+/).filter(Boolean)
  if (words.length === 0) return [snippet]
  const escaped = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return snippet.split(new RegExp(`(${escaped.join('|')})`, 'giu'))
}
