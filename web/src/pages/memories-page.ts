import { css, html, LitElement, nothing, type TemplateResult } from 'lit'
import type { App } from '../app/app.ts'
import { explain } from '../data/http.ts'
import { fetchMemories, type Memory, type MemoryPage } from '../data/memories.ts'
import { cards } from '../design/cards.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'
import '../design/page.ts'
import '../design/state.ts'
import '../view/erase-dialog.ts'
import type { Erasing } from '../view/erase-dialog.ts'
import { fullTimeText, plural, shortDateText, wordsText } from '../view/format.ts'
import { relativeText } from '../view/relative-time.ts'

const pageSize = 50
const typingPauseMs = 180
/** A turn may teach several things: they are one reason to look again. */
const settleMs = 300

/** What the delegate remembers of its owner, where it has that from, and how it is forgotten. */
export class DgMemoriesPage extends LitElement {
  static override readonly properties = {
    app: { attribute: false },
    query: { state: true },
    page: { state: true },
    problem: { state: true },
    loading: { state: true },
    erasing: { state: true },
  }
  static override readonly styles = [
    controls,
    cards,
    css`
      .search {
        margin-bottom: var(--space-4);
      }
      .strength {
        width: 3rem;
        height: 0.375rem;
      }
      .strength .track {
        fill: var(--line);
      }
      .strength .used {
        fill: var(--accent);
      }
      .meter {
        display: inline-flex;
        align-items: center;
        gap: var(--space-2);
      }
      .total {
        margin-bottom: var(--space-2);
      }
      .more {
        margin-top: var(--space-3);
      }
    `,
  ]
  declare app: App
  declare private query: string
  declare private page: MemoryPage | null
  declare private problem: string
  declare private loading: boolean
  declare private erasing: Erasing | null
  private timer: ReturnType<typeof setTimeout> | undefined
  private running: AbortController | null = null
  private unfollow: () => void = () => undefined

  constructor() {
    super()
    this.query = ''
    this.page = null
    this.problem = ''
    this.loading = false
    this.erasing = null
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.unfollow = this.app.chat().follow(({ type }) => {
      if (type.startsWith('eras') || /^memory\.(?!recall|extraction|checkpoint)/.test(type))
        this.loadSoon(settleMs)
    })
    void this.load()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.unfollow()
    this.running?.abort()
    clearTimeout(this.timer)
  }

  private loadSoon(pauseMs: number): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.load(), pauseMs)
  }

  /** The first page of what matches, or, from a cursor, the next. */
  private async load(cursor: string | null = null): Promise<void> {
    this.running?.abort()
    const running = new AbortController()
    this.running = running
    this.loading = true
    const q = this.query.trim()
    try {
      const page = await fetchMemories(this.app.http, {
        limit: pageSize,
        signal: running.signal,
        ...(q === '' ? {} : { q }),
        ...(cursor === null ? {} : { cursor }),
      })
      const before = cursor === null ? [] : (this.page?.memories ?? [])
      this.page = { ...page, memories: [...before, ...page.memories] }
      this.problem = ''
    } catch (error) {
      if (!running.signal.aborted) this.problem = explain(error)
    } finally {
      if (this.running === running) this.loading = false
    }
  }

  private confirmForgetting(memory: Memory): void {
    this.erasing = {
      heading: 'Forget this for good?',
      target: { kind: 'memory', id: memory.id },
      note: 'It never comes up again, nor is it learned back from the same words. What you said stays on the timeline until you erase it there, but is no longer recalled.',
    }
  }

  override render() {
    return html`
      <dg-page heading="Memories">
        <a slot="tools" class="button small" href="/settings/memory">Memory Insights</a>
        ${this.contentView()}
      </dg-page>
      <dg-erase-dialog
        .app=${this.app}
        .erasing=${this.erasing}
        @close=${() => (this.erasing = null)}
        @erasing=${() => void this.load()}
        @undone=${() => void this.load()}
      ></dg-erase-dialog>
    `
  }

  private contentView(): TemplateResult {
    const { page, problem } = this
    if (page === null && problem !== '') {
      return html`<dg-state icon="offline" heading="The memories cannot be shown" role="alert">
        <p>${problem}</p>
        <button class="button" @click=${() => void this.load()}>Try again</button>
      </dg-state>`
    }
    if (page === null) {
      return html`<div role="status" aria-label="Loading the memories">
        <div class="waiting"></div>
        <div class="waiting"></div>
        <div class="waiting"></div>
      </div>`
    }
    if (page.memories.length === 0 && this.query.trim() === '') {
      return html`<dg-state icon="brain" heading="Nothing remembered yet">
        <p>Delegate remembers by itself what you tell it about you. Everything it keeps is listed here.</p>
      </dg-state>`
    }
    return html`
      <div class="search">
        <input
          class="input"
          type="search"
          aria-label="Search the memories"
          placeholder="Search the memories"
          .value=${this.query}
          @input=${(event: Event) => {
            if (!(event.target instanceof HTMLInputElement)) return
            this.query = event.target.value
            this.loadSoon(typingPauseMs)
          }}
        />
      </div>
      ${problem === '' ? nothing : html`<p role="alert">What follows may be out of date. ${problem}</p>`}
      <p class="facts total" role="status">${this.loading ? 'Loading…' : plural(page.count, 'memory', 'memories')}</p>
      ${this.listView(page)}
    `
  }

  private listView(page: MemoryPage): TemplateResult {
    if (page.memories.length === 0 && !this.loading) {
      return html`<dg-state icon="search" heading="Nothing like that is remembered"></dg-state>`
    }
    const now = new Date()
    return html`
      <ul class="cards" aria-label="Memories">
        ${page.memories.map((memory) => this.memoryView(memory, now))}
      </ul>
      ${
        page.nextCursor === null
          ? nothing
          : html`<button
              class="button small more"
              ?disabled=${this.loading}
              @click=${() => void this.load(page.nextCursor)}
            >
              Show more
            </button>`
      }
    `
  }

  private memoryView(memory: Memory, now: Date): TemplateResult {
    const { createdAt, lastReinforcedAt, sources, status, validUntil } = memory
    return html`<li>
      <div class="what">
        <p>${memory.text}</p>
        <p class="facts">
          <span>${wordsText(memory.kind)}</span>
          ${
            status === 'contested'
              ? html`<span title="Another memory contradicts it. Tell Delegate which one is right.">contested</span>`
              : nothing
          }
          ${
            validUntil === null
              ? nothing
              : html`<span title=${fullTimeText(validUntil)}>until ${shortDateText(validUntil)}</span>`
          }
          ${strengthView(memory.strength)}
          <span title=${fullTimeText(createdAt)}>learned ${relativeText(createdAt, now)}</span>
          ${
            memory.reinforcements > 0 && lastReinforcedAt !== null
              ? html`<span title=${fullTimeText(lastReinforcedAt)}>
                  confirmed ${plural(memory.reinforcements, 'time')}, latest ${relativeText(lastReinforcedAt, now)}
                </span>`
              : nothing
          }
        </p>
        <p class="facts">
          ${sources.map(
            ({ seq }, index) => html`<a href="/?seq=${seq}">
              ${index === 0 ? 'Where it was said' : `and again (${index + 1})`}
            </a>`,
          )}
        </p>
      </div>
      <button
        class="button quiet icon small"
        aria-label="Forget: ${memory.text}"
        title="Forget"
        @click=${() => this.confirmForgetting(memory)}
      >
        <dg-icon name="trash"></dg-icon>
      </button>
    </li>`
  }
}

function strengthView(strength: number): TemplateResult {
  const percent = Math.round(Math.min(1, Math.max(0, strength)) * 100)
  return html`<span class="meter" title="Strength ${percent}%: it grows with use and fades with time">
    <svg class="strength" role="img" aria-label="Strength ${percent}%">
      <rect class="track" width="100%" height="100%" rx="3"></rect>
      <rect class="used" width="${percent}%" height="100%" rx="3"></rect>
    </svg>
  </span>`
}

customElements.define('dg-memories-page', DgMemoriesPage)
