import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { Memory } from '../../../src/http/contract/memories.ts'
import { AppElement } from '../app/app-element.ts'
import { loadedView } from '../app/loaded.ts'
import { type ListPage, moreView, PagedList, searchField } from '../app/paged-list.ts'
import { barView } from '../design/bar.ts'
import { fullTimeText, plural, relativeText, shortDateText, wordsText } from '../design/format.ts'
import { iconButton } from '../design/icon-button.ts'
import { askToForget } from './forget-memory.ts'
import { writeMemory } from './memory-dialog.ts'

const pageSize = 50
/** More than fit the tokens that memories may use. */
const maxPinned = 200

type MemoryPage = ListPage<Memory> & {
  readonly count: number
  readonly pinnedCount: number
  readonly pinnedTokens?: { readonly used: number; readonly limit: number } | undefined
}

/** The delegate's memories, with their sources. The owner can search, add, edit, pin, merge and forget them. */
@customElement('dg-memories-page')
export class DgMemoriesPage extends AppElement {
  static override readonly styles = css`
    .find {
      display: flex;
      gap: var(--space-2);
      margin-bottom: var(--space-4);
    }
    .find .input-with-icon {
      flex: 1;
      min-width: 0;
    }
    .find .button {
      min-height: 2.75rem;
      white-space: nowrap;
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
    /* The buttons go below the words where there is no room beside them. */
    .cards > li {
      flex-wrap: wrap;
    }
    .cards .what {
      flex-basis: 11rem;
    }
    .buttons {
      display: flex;
      gap: var(--space-1);
      margin-inline-start: auto;
    }
    .pick {
      display: grid;
      width: 1.5rem;
      height: 1.5rem;
      place-items: center;
      cursor: pointer;
    }
    .picked {
      position: sticky;
      bottom: var(--space-3);
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: var(--space-2);
      margin-top: var(--space-3);
      padding: var(--space-2) var(--space-3);
      border: 1px solid var(--line-strong);
      border-radius: var(--radius-md);
      background: var(--raised);
      box-shadow: var(--shadow-high);
    }
    .picked p {
      flex: 1 1 8rem;
    }
  `
  /** The memory that is being confirmed or pinned. */
  @state() private changingId: string | null = null
  /** The ids of the memories that are selected to be merged. */
  @state() private picked: ReadonlySet<string> = new Set()
  private readonly memories = new PagedList<Memory, MemoryPage>(this, {
    fetch: async ({ signal, ...query }): Promise<MemoryPage> => {
      const ask = async (pinned: 'true' | 'false') => {
        const limit = pinned === 'true' ? maxPinned : pageSize
        const asked = { query: { limit, pinned, ...query }, signal }
        return this.app.http.get('/api/memories', asked)
      }
      const none = { memories: [], count: this.memories.value?.pinnedCount ?? 0 }
      // The pinned ones come first, so they belong to the first page.
      const [pinned, others] = await Promise.all([query.cursor ? none : ask('true'), ask('false')])
      const { memories, count, ...rest } = others
      return {
        items: [...pinned.memories, ...memories],
        count: pinned.count + count,
        pinnedCount: pinned.count,
        ...rest,
      }
    },
    concerns: (type) => type.startsWith('eras') || /^memory\.(?!recall|extraction|checkpoint)/.test(type),
  })

  constructor() {
    super()
    // The search links here with its words.
    this.memories.query = new URLSearchParams(location.search).get('q') ?? ''
  }

  private write(memories: readonly Memory[]): void {
    writeMemory(this, memories, () => {
      this.picked = new Set()
      void this.memories.reload()
    })
  }

  /** Sends a change of one memory, during which no other can be changed. */
  private async change({ id }: Memory, done: string, send: () => Promise<unknown>): Promise<void> {
    this.changingId = id
    await this.app.attempt(async () => {
      await send()
      this.app.toast(done)
      await this.memories.reload()
    })
    this.changingId = null
  }

  private confirm(memory: Memory): void {
    const { id } = memory
    void this.change(memory, 'Memory confirmed', () =>
      this.app.http.post('/api/memories/{id}/restore', { params: { id } }),
    )
  }

  private pin(memory: Memory): void {
    const { id } = memory
    const pinned = memory.pinned !== true
    void this.change(memory, pinned ? 'Pinned: part of every reply to you' : 'Unpinned', () =>
      this.app.http.put('/api/memories/{id}', { params: { id }, body: { pinned } }),
    )
  }

  private pick({ id }: Memory): void {
    const picked = new Set(this.picked)
    if (!picked.delete(id)) picked.add(id)
    this.picked = picked
  }

  override render() {
    const { memories } = this
    return html`<dg-page heading="Memories">
      <a slot="tools" class="button small" href="/settings/memory">Memory Insights</a>
      ${loadedView(memories, 'the memories', ({ count, pinnedTokens }) => {
        if (memories.isEmpty) return this.emptyView()
        return html`
          <div class="find">
            ${searchField(memories, 'Search memories')}
            <button class="button primary" @click=${() => this.write([])}>
              <dg-icon name="plus"></dg-icon>Add
            </button>
          </div>
          <p class="facts total" role="status">
            ${memories.loading ? 'Loading…' : plural(count, 'memory', 'memories')}
          </p>
          ${pinnedTokens ? pinnedView(pinnedTokens) : nothing} ${this.foundView()}
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
      ${moreView(this.memories)} ${this.pickedView(items.filter(({ id }) => this.picked.has(id)))}
    `
  }

  private pickedView(picked: readonly Memory[]): TemplateResult | typeof nothing {
    if (picked.length === 0) return nothing
    const clear = () => {
      this.picked = new Set()
    }
    return html`<div class="picked" role="group" aria-label="Selected memories">
      <p role="status">
        ${picked.length === 1 ? '1 selected. Select another to merge them.' : `${picked.length} selected`}
      </p>
      <button class="button quiet small" @click=${clear}>Clear</button>
      <button
        class="button primary small"
        ?disabled=${picked.length < 2}
        @click=${() => this.write(picked)}
      >
        <dg-icon name="merge"></dg-icon>Merge
      </button>
    </div>`
  }

  private memoryView(memory: Memory): TemplateResult {
    const { createdAt, keywords = [], lastReinforcedAt, status, validUntil } = memory
    // What the owner wrote on this page was not said in a conversation.
    const sources = memory.sources.filter(({ conversationId }) => conversationId !== null)
    return html`<li>
      <label class="pick" title="Select to merge">
        <input
          type="checkbox"
          aria-label="Select: ${memory.text}"
          .checked=${this.picked.has(memory.id)}
          @change=${() => this.pick(memory)}
        />
      </label>
      <div class="what">
        <p>${memory.text}</p>
        <p class="facts">
          ${memory.pinned ? html`<span title="Part of every reply to you">pinned</span>` : nothing}
          <span>${wordsText(memory.kind)}</span>
          ${memory.pasted ? html`<span title="They may be the words of others.">pasted words</span>` : nothing}
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
          ${memory.pinned ? nothing : strengthView(memory.strength)}
          <span title=${fullTimeText(createdAt)}
            >${memory.by === 'owner' ? 'written by you' : 'learned'} ${relativeText(createdAt)}</span
          >
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
      ${this.buttonsView(memory)}
    </li>`
  }

  private buttonsView(memory: Memory): TemplateResult {
    const { id, text, pinned, status } = memory
    const pin = () => this.pin(memory)
    return html`<div class="buttons">
      ${
        status === 'provisional'
          ? nothing
          : pinned
            ? iconButton('unpin', `Unpin: ${text}`, pin, 'quiet small', 'Unpin')
            : iconButton('pin', `Pin: ${text}`, pin, 'quiet small', 'Pin: part of every reply to you')
      }
      ${iconButton('edit', `Edit: ${text}`, () => this.write([memory]), 'quiet small', 'Edit')}
      ${iconButton('trash', `Forget: ${text}`, () => askToForget(this, id, this.memories.reload), 'quiet small', 'Forget')}
    </div>`
  }

  private confirmButton(memory: Memory): TemplateResult {
    const { changingId } = this
    return html`<button
      class="button small confirm"
      aria-label="Confirm: ${memory.text}"
      ?disabled=${changingId !== null}
      @click=${() => this.confirm(memory)}
    >
      ${changingId === memory.id ? 'One moment…' : 'Confirm'}
    </button>`
  }

  private emptyView(): TemplateResult {
    return html`<dg-state icon="brain" heading="Nothing remembered yet">
      <p>Delegate remembers what you tell it about yourself. Everything it remembers is listed here.</p>
      <button class="button primary" @click=${() => this.write([])}>Add a memory</button>
    </dg-state>`
  }
}

function pinnedView({ used, limit }: NonNullable<MemoryPage['pinnedTokens']>): TemplateResult {
  return html`<p class="facts total">
    Pinned memories are part of every reply to you, but not to guests. They use ${used} of
    <a href="/memory-config">${limit} tokens</a> that memories may have, and recalled ones share the rest.
  </p>`
}

function strengthView(strength: number): TemplateResult {
  const percent = Math.round(Math.min(1, Math.max(0, strength)) * 100)
  return html`<span class="meter" title="Strength ${percent}%. It grows with use and fades with time.">
    strength
    ${barView(percent, `Strength ${percent}%`)}
  </span>`
}
