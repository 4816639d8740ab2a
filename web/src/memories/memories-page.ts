import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { Memory } from '../../../src/http/contract/memories.ts'
import { AppElement } from '../app/app-element.ts'
import { loadedView } from '../app/loaded.ts'
import { firstItems } from '../app/offline-copy.ts'
import { type ListPage, moreView, PagedList, searchField } from '../app/paged-list.ts'
import { Picked, pickStyles } from '../app/picked.ts'
import { barView } from '../design/bar.ts'
import { fullTimeText, plural, relativeText, shortDateText, wordsText } from '../design/format.ts'
import { iconButton, labelButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'
import { askToForget } from './forget-memory.ts'
import { writeMemory } from './memory-dialog.ts'

type MemoryPage = ListPage<Memory> & {
  readonly count: number
  readonly pinnedCount: number
  readonly pinnedTokens?: { readonly used: number; readonly limit: number } | undefined
}

/** The delegate's memories, with their sources. The owner can search, add, edit, pin, merge and forget them. */
@customElement('dg-memories-page')
export class DgMemoriesPage extends AppElement {
  static override readonly styles = [
    pickStyles,
    css`
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
  `,
  ]
  /** The memory that is being confirmed or pinned. */
  @state() private changingId: string | null = null
  /** The memories that are selected to be merged. */
  private readonly picked = new Picked(this)
  private readonly memories = new PagedList<Memory, MemoryPage>(this, {
    fetch: async ({ signal, ...query }): Promise<MemoryPage> => {
      const ask = async (pinned: 'true' | 'false') => {
        const limit = firstItems[pinned === 'true' ? 'pinned' : 'memories']
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
      this.picked.choose([])
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
    void this.change(memory, msg`Memory confirmed`, () =>
      this.app.http.post('/api/memories/{id}/restore', { params: { id } }),
    )
  }

  private pin(memory: Memory): void {
    const { id } = memory
    const pinned = memory.pinned !== true
    void this.change(memory, pinned ? msg`Pinned: part of every reply to you` : msg`Unpinned`, () =>
      this.app.http.put('/api/memories/{id}', { params: { id }, body: { pinned } }),
    )
  }

  override render() {
    const { memories } = this
    return html`<dg-page heading=${msg`Memories`}>
      <a slot="tools" class="button small" href="/settings/memory">${msg`Memory Insights`}</a>
      ${loadedView(memories, msg`the memories`, ({ count, pinnedTokens }) => {
        if (memories.isEmpty) return this.emptyView()
        return html`
          <div class="beside find">
            ${searchField(memories, msg`Search memories`)}
            ${labelButton('plus', msg`Add`, () => this.write([]), 'primary')}
          </div>
          <p class="facts total" role="status">
            ${memories.loading ? msg`Loading…` : plural(count, msg`memory`, msg`memories`)}
          </p>
          ${pinnedTokens ? pinnedView(pinnedTokens) : nothing} ${this.foundView()}
        `
      })}
    </dg-page>`
  }

  private foundView(): TemplateResult {
    const { items, loading } = this.memories
    if (items.length === 0 && !loading) {
      return html`<dg-state icon="search" heading=${msg`No matching memories`}></dg-state>`
    }
    return html`
      <ul class="list cards" aria-label=${msg`Memories`}>
        ${items.map((memory) => this.memoryView(memory))}
      </ul>
      ${moreView(this.memories)} ${this.pickedView(this.picked.of(items))}
    `
  }

  private pickedView(picked: readonly Memory[]): TemplateResult | typeof nothing {
    const { length } = picked
    const buttons = html`<button
      class="button primary small"
      ?disabled=${length < 2}
      @click=${() => this.write(picked)}
    >
      <dg-icon name="merge"></dg-icon>${msg`Merge`}
    </button>`
    const words = length === 1 ? msg`1 selected. Select another to merge them.` : msg`${length} selected`
    return this.picked.barView(msg`Selected memories`, length, buttons, words)
  }

  private memoryView(memory: Memory): TemplateResult {
    const { createdAt, keywords = [], lastReinforcedAt, status, validUntil } = memory
    // What the owner wrote on this page was not said in a conversation.
    const sources = memory.sources.filter(
      ({ conversationId, importedId }) => conversationId !== null || importedId !== undefined,
    )
    return html`<li>
      ${this.picked.boxView(memory.id, memory.text, msg`Select to merge`)}
      <div class="what">
        <p>${memory.text}</p>
        <p class="facts">
          ${memory.pinned ? html`<span title=${msg`Part of every reply to you`}>${msg`pinned`}</span>` : nothing}
          <span>${wordsText(memory.kind)}</span>
          ${memory.pasted ? html`<span title=${msg`They may be the words of others.`}>${msg`pasted words`}</span>` : nothing}
          ${
            status === 'contested'
              ? html`<span title=${msg`Another memory contradicts it. Tell Delegate which one is right.`}>${msg`contested`}</span>`
              : nothing
          }
          ${
            status === 'provisional'
              ? html`<span
                  title=${msg`Delegate is not sure you meant this, so it does not use it until you confirm it or say it again.`}
                  >${msg`unconfirmed`}</span
                >`
              : nothing
          }
          ${
            validUntil === null
              ? nothing
              : html`<span title=${fullTimeText(validUntil)}>${msg`until ${shortDateText(validUntil)}`}</span>`
          }
          ${memory.pinned ? nothing : strengthView(memory.strength)}
          <span title=${fullTimeText(createdAt)}
            >${memory.by === 'owner' ? msg`written by you` : msg`learned`} ${relativeText(createdAt)}</span
          >
          ${
            memory.reinforcements > 0 && lastReinforcedAt !== null
              ? html`<span title=${fullTimeText(lastReinforcedAt)}>
                  ${
                    memory.reinforcements === 1
                      ? msg`confirmed once, ${relativeText(lastReinforcedAt)}`
                      : msg`confirmed ${memory.reinforcements} times, latest ${relativeText(lastReinforcedAt)}`
                  }
                </span>`
              : nothing
          }
        </p>
        ${keywords.length === 0 ? nothing : html`<p class="facts">${msg`Also found by: ${keywords.join(', ')}`}</p>`}
        <p class="facts">
          ${sources.map(
            ({ seq, importedId }, index) => html`<a
              href=${importedId === undefined ? `/?seq=${seq}` : `/imported/read?id=${encodeURIComponent(importedId)}`}
            >
              ${index === 0 ? msg`Show source` : msg`source ${index + 1}`}
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
            ? iconButton('unpin', msg`Unpin: ${text}`, pin, 'quiet small', msg`Unpin`)
            : iconButton('pin', msg`Pin: ${text}`, pin, 'quiet small', msg`Pin: part of every reply to you`)
      }
      ${iconButton('edit', msg`Edit: ${text}`, () => this.write([memory]), 'quiet small', msg`Edit`)}
      ${iconButton('trash', msg`Forget: ${text}`, () => askToForget(this, id, this.memories.reload), 'quiet small', msg`Forget`)}
    </div>`
  }

  private confirmButton(memory: Memory): TemplateResult {
    const { changingId } = this
    return html`<button
      class="button small confirm"
      aria-label=${msg`Confirm: ${memory.text}`}
      ?disabled=${changingId !== null}
      @click=${() => this.confirm(memory)}
    >
      ${changingId === memory.id ? msg`One moment…` : msg`Confirm`}
    </button>`
  }

  private emptyView(): TemplateResult {
    return html`<dg-state icon="brain" heading=${msg`Nothing remembered yet`}>
      <p>${msg`Delegate remembers what you tell it about yourself. Everything it remembers is listed here.`}</p>
      <button class="button primary" @click=${() => this.write([])}>${msg`Add a memory`}</button>
    </dg-state>`
  }
}

function pinnedView({ used, limit }: NonNullable<MemoryPage['pinnedTokens']>): TemplateResult {
  return html`<p class="facts total">
    ${msg`Pinned memories are part of every reply to you, but not to guests. They use ${used} of`}
    <a href="/memory-config">${msg`${limit} tokens`}</a> ${msg`that memories may have, and recalled ones share the rest.`}
  </p>`
}

function strengthView(strength: number): TemplateResult {
  const percent = Math.round(Math.min(1, Math.max(0, strength)) * 100)
  return html`<span class="meter" title=${msg`Strength ${percent}%. It grows with use and fades with time.`}>
    ${msg`strength`}
    ${barView(percent, msg`Strength ${percent}%`)}
  </span>`
}
