import { css, html, LitElement, nothing, type TemplateResult } from 'lit'
import { explain } from '../data/http.ts'
import type { TimelineEvent } from '../data/timeline.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'
import { isErased, wordsOf } from '../timeline/event-kinds.ts'
import { fullTimeText } from './format.ts'
import { ownerFormat } from './owner-time.ts'

type Word = 'confirm' | 'decline'

const untilText = ownerFormat({ weekday: 'long', hour: '2-digit', minute: '2-digit' })

/** A text to somebody else that waits for the owner's word, or what became of it. */
export class DgProposal extends LitElement {
  static override readonly properties = {
    proposal: { attribute: false },
    word: { attribute: false },
    settle: { attribute: false },
    reachable: { type: Boolean },
    giving: { state: true },
    problem: { state: true },
    expired: { state: true },
  }
  static override readonly styles = [
    controls,
    css`
      :host {
        display: block;
        max-width: 36rem;
        margin: var(--space-2) 0;
        border-radius: var(--radius-md);
      }
      section {
        display: grid;
        gap: var(--space-3);
        padding: var(--space-3) var(--space-4) var(--space-4);
        border: 1px solid var(--line-strong);
        border-radius: var(--radius-md);
        background: var(--surface);
      }
      section.over {
        gap: var(--space-2);
        padding-bottom: var(--space-3);
        border-color: var(--line);
        background: none;
      }
      h3 {
        display: flex;
        align-items: center;
        gap: var(--space-2);
        margin: 0;
        font-size: var(--text-md);
        font-weight: 600;
      }
      .over h3 {
        color: var(--ink-soft);
        font-size: var(--text-sm);
        font-weight: 500;
      }
      blockquote {
        margin: 0;
        padding: 0.5rem 0.9375rem;
        border-radius: var(--radius-md);
        background: var(--sunken);
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      .over blockquote {
        color: var(--ink-soft);
        font-size: var(--text-sm);
      }
      .actions {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2) var(--space-3);
      }
      .until {
        margin-inline-start: auto;
        color: var(--ink-faint);
        font-size: var(--text-xs);
      }
      .erased {
        color: var(--ink-faint);
        font-style: italic;
      }
    `,
  ]
  declare proposal: TimelineEvent
  declare word: 'confirmed' | 'declined' | null
  declare settle: (id: string, word: Word) => Promise<void>
  declare reachable: boolean
  declare private giving: Word | null
  declare private problem: string
  declare private expired: boolean
  private expiry: ReturnType<typeof setTimeout> | undefined

  constructor() {
    super()
    this.word = null
    this.reachable = false
    this.giving = null
    this.problem = ''
    this.expired = false
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.watchExpiry()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearTimeout(this.expiry)
  }

  protected override willUpdate(): void {
    this.watchExpiry()
  }

  private get expiresAt(): string {
    const { expiresAt } = this.proposal.payload
    return typeof expiresAt === 'string' ? expiresAt : ''
  }

  /** The buttons go when the moment comes, also while the page is only looked at. */
  private watchExpiry(): void {
    clearTimeout(this.expiry)
    if (!this.proposal) return
    const inMs = Date.parse(this.expiresAt) - Date.now()
    this.expired = inMs <= 0
    if (inMs > 0) this.expiry = setTimeout(() => this.requestUpdate(), Math.min(inMs + 50, 2 ** 31 - 1))
  }

  private async give(word: Word): Promise<void> {
    const { proposalId } = this.proposal.payload
    if (this.giving !== null || typeof proposalId !== 'string') return
    this.giving = word
    this.problem = ''
    try {
      await this.settle(proposalId, word)
    } catch (error) {
      this.problem = explain(error)
    } finally {
      this.giving = null
    }
  }

  override render() {
    const { payload } = this.proposal
    const to = typeof payload.target === 'string' ? payload.target : 'somebody else'
    if (isErased(this.proposal)) return this.overView('Proposed text', html`<p class="erased">Erased</p>`)
    const words = html`<blockquote>${wordsOf(this.proposal)}</blockquote>`
    if (this.word === 'confirmed') return this.overView(`You let this text to ${to} go out`, words)
    if (this.word === 'declined') return this.overView(`You declined this text to ${to}`, words)
    if (this.expired) return this.overView(`This text to ${to} expired and was not sent`, words)
    return html`<section aria-label="Proposed text to ${to}">
      <h3><dg-icon name="sms"></dg-icon>Send this text to ${to}?</h3>
      ${words}
      ${this.problem === '' ? nothing : html`<div class="callout" role="alert"><dg-icon name="warning"></dg-icon><span>${this.problem}</span></div>`}
      <div class="actions">
        ${this.button('confirm', 'Send text', 'Sending…', 'primary')} ${this.button('decline', 'Do not send', 'Declining…', '')}
        <time class="until" datetime=${this.expiresAt} title=${fullTimeText(this.expiresAt)}>
          until ${untilText(new Date(this.expiresAt))}
        </time>
      </div>
    </section>`
  }

  private button(word: Word, label: string, busy: string, look: string): TemplateResult {
    return html`<button
      class="button small ${look}"
      tabindex=${this.reachable ? 0 : -1}
      ?disabled=${this.giving !== null}
      @click=${() => this.give(word)}
    >
      ${this.giving === word ? busy : label}
    </button>`
  }

  private overView(heading: string, words: TemplateResult): TemplateResult {
    return html`<section class="over" aria-label=${heading}>
      <h3><dg-icon name="sms"></dg-icon>${heading}</h3>
      ${words}
    </section>`
  }
}

customElements.define('dg-proposal', DgProposal)
