import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { Memory } from '../../../src/http/contract/memories.ts'
import { AppElement } from '../app/app-element.ts'
import { askToErase } from '../app/erase-dialog.ts'
import { loadedView } from '../app/loaded.ts'
import { type ListPage, moreView, PagedList, searchField } from '../app/paged-list.ts'
import { barView } from '../design/bar.ts'
import { fullTimeText, plural, relativeText, shortDateText, wordsText } from '../design/format.ts'
import { iconButton } from '../design/icon-button.ts'

const pageSize = 50

type MemoryPage = ListPage<Memory> & { readonly count: number }

/** The delegate's memories, with their sources. The owner can search and forget them. */
@customElement('dg-memories-page')
export class DgMemoriesPage extends AppElement {
  static override readonly styles = css`
    .search {
      margin-bottom: var(--space-4);
    }
    .fill-bar {
      width: 3rem;
      vertical-align: middle;
    }
    .meter {
      white-space: nowrap;
    }
    .confirm {
      margin-top: var(--space-2);
    }
    .total {
      margin-bottom: var(--space-2);
    }
  `
  /** The memory whose confirmation is being sent. */
  @state() private confirmingId: string | null = null
  private readonly memories = new PagedList<Memory, MemoryPage>(this, {
    fetch: async ({ signal, ...query }) => {
      const { memories, ...rest } = await this.app.http.get('/api/memories', {
        query: { limit: pageSize, ...query },
        signal,
      })
      return { items: memories, ...rest }
    },
    concerns: (type) => type.startsWith('eras') || /^memory\.(?!recall|extraction|checkpoint)/.test(type),
  })

  private confirmForgetting(memory: Memory): void {
    askToErase(this, {
      heading: 'Forget this for good?',
      target: { kind: 'memory', id: memory.id },
      note: 'It never comes up again and is not learned again from the same words. What you said stays on the timeline until you erase it there, but is no longer recalled.',
      onChange: this.memories.reload,
    })
  }

  private async confirm({ id }: Memory): Promise<void> {
    this.confirmingId = id
    await this.app.attempt(async () => {
      await this.app.http.post('/api/memories/{id}/restore', { params: { id } })
      this.app.toast('Memory confirmed')
      await this.memories.reload()
    })
    this.confirmingId = null
  }

  override render() {
    const { memories } = this
    return html`<dg-page heading="Memories">
      <a slot="tools" class="button small" href="/settings/memory">Memory Insights</a>
      ${loadedView(memories, 'the memories', ({ count }) => {
        if (memories.isEmpty) return emptyView()
        return html`
          <div class="search">${searchField(memories, 'Search memories')}</div>
          <p class="facts total" role="status">
            ${memories.loading ? 'Loading…' : plural(count, 'memory', 'memories')}
          </p>
          ${this.foundView()}
        `
      })}
    </dg-page>`
  }

  private foundView(): TemplateResult {
    const { items, loading } = this.memories
    if (items.length === 0 && !loading) {
      return html`<dg-state icon="search" heading="No matching memories"></dg-state>`
    }
    return html`
      <ul class="list cards" aria-label="Memories">
        ${items.map((memory) => this.memoryView(memory))}
      </ul>
      ${moreView(this.memories)}
    `
  }

  private memoryView(memory: Memory): TemplateResult {
    const { createdAt, keywords = [], lastReinforcedAt, sources, status, validUntil } = memory
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
            status === 'provisional'
              ? html`<span
                  title="Delegate is not sure you meant this, so it does not use it until you confirm it or say it again."
                  >unconfirmed</span
                >`
              : nothing
          }
          ${
            validUntil === null
              ? nothing
              : html`<span title=${fullTimeText(validUntil)}>until ${shortDateText(validUntil)}</span>`
          }
          ${strengthView(memory.strength)}
          <span title=${fullTimeText(createdAt)}>learned ${relativeText(createdAt)}</span>
          ${
            memory.reinforcements > 0 && lastReinforcedAt !== null
              ? html`<span title=${fullTimeText(lastReinforcedAt)}>
                  confirmed ${plural(memory.reinforcements, 'time')}, latest ${relativeText(lastReinforcedAt)}
                </span>`
              : nothing
          }
        </p>
        ${keywords.length === 0 ? nothing : html`<p class="facts">Also found by: ${keywords.join(', ')}</p>`}
        <p class="facts">
          ${sources.map(
            ({ seq }, index) => html`<a href="/?seq=${seq}">
              ${index === 0 ? 'Show source' : `source ${index + 1}`}
            </a>`,
          )}
        </p>
        ${status === 'provisional' ? this.confirmButton(memory) : nothing}
      </div>
      ${iconButton('trash', `Forget: ${memory.text}`, () => this.confirmForgetting(memory), 'quiet small', 'Forget')}
    </li>`
  }

  private confirmButton(memory: Memory): TemplateResult {
    const { confirmingId } = this
    return html`<button
      class="button small confirm"
      aria-label="Confirm: ${memory.text}"
      ?disabled=${confirmingId !== null}
      @click=${() => void this.confirm(memory)}
    >
      ${confirmingId === memory.id ? 'One moment…' : 'Confirm'}
    </button>`
  }
}

function emptyView(): TemplateResult {
  return html`<dg-state icon="brain" heading="Nothing remembered yet">
    <p>Delegate remembers what you tell it about yourself. Everything it remembers is listed here.</p>
  </dg-state>`
}

function strengthView(strength: number): TemplateResult {
  const percent = Math.round(Math.min(1, Math.max(0, strength)) * 100)
  return html`<span class="meter" title="Strength ${percent}%. It grows with use and fades with time.">
    strength
    ${barView(percent, `Strength ${percent}%`)}
  </span>`
}
