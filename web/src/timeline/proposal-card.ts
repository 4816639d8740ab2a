import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import type { App } from '../app/app.ts'
import { Submission } from '../app/submission.ts'
import { controls } from '../design/controls.ts'
import { problemView } from '../design/field.ts'
import { fullTimeText } from '../design/format.ts'
import type { IconName } from '../design/icon.ts'
import { ownerFormat } from '../design/owner-time.ts'
import { tick } from '../design/while-connected.ts'
import { cardStyles } from './card-styles.ts'
import { isErased, wordsOf } from './event-kinds.ts'
import { shownText } from './shown-text.ts'
import type { ProposalOutcome } from './tree.ts'

type Word = 'confirm' | 'decline'

const untilText = ownerFormat({ weekday: 'long', hour: '2-digit', minute: '2-digit' })

/** A proposal (a text to someone else, or a deed) with its buttons, or how it was settled. */
@customElement('dg-proposal')
export class DgProposal extends LitElement {
  static override readonly styles = [
    controls,
    cardStyles,
    css`
      section.over {
        gap: var(--space-2);
        padding-bottom: var(--space-3);
        border-color: var(--line);
        background: none;
      }
      .over .title {
        color: var(--ink-soft);
        font-size: var(--text-sm);
        font-weight: 500;
      }
      blockquote {
        padding: 0.5rem 0.9375rem;
        border-radius: var(--radius-md);
        background: var(--sunken);
        overflow-wrap: anywhere;
        unicode-bidi: plaintext;
        white-space: pre-wrap;
      }
      .over blockquote {
        color: var(--ink-soft);
        font-size: var(--text-sm);
      }
      .until {
        margin-inline-start: auto;
        color: var(--ink-faint);
        font-size: var(--text-xs);
      }
      /* Before confirmation the words are shown in full, so only settled ones scroll. */
      .over .words {
        max-height: 20rem;
        overflow: auto;
      }
      .erased {
        color: var(--ink-faint);
        font-style: italic;
      }
    `,
  ]
  @property({ attribute: false }) proposal!: TimelineEvent
  @property({ attribute: false }) word: 'confirmed' | 'declined' | null = null
  @property({ attribute: false }) outcome: ProposalOutcome | null = null
  /** Only part of the words is loaded. The rest is loaded before the owner can confirm. */
  @property({ attribute: false }) cut = false
  @property({ attribute: false }) showAll!: (event: TimelineEvent) => void
  @property({ attribute: false }) app!: App
  @property({ type: Boolean }) reachable = false
  @state() private settling: Word | null = null
  private readonly submission = new Submission(this)

  constructor() {
    super()
    // Removes the buttons once the proposal expires.
    tick(this, 1000, () => this.word === null)
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('cut') && this.cut) this.showAll(this.proposal)
  }

  private get expiresAt(): string {
    const { expiresAt } = this.proposal.payload
    return typeof expiresAt === 'string' ? expiresAt : ''
  }

  private get expired(): boolean {
    return Date.parse(this.expiresAt) <= Date.now()
  }

  private async submit(word: Word): Promise<void> {
    const { proposalId } = this.proposal.payload
    if (this.settling !== null || typeof proposalId !== 'string') return
    this.settling = word
    await this.submission.send(() =>
      this.app.http.post(`/api/proposals/{id}/${word}`, { params: { id: proposalId } }),
    )
    this.settling = null
  }

  override render() {
    if (this.proposal.payload.kind === 'tool') return this.deedView()
    const { payload } = this.proposal
    const to = typeof payload.target === 'string' ? shownText(payload.target) : 'someone else'
    if (isErased(this.proposal)) return this.overView('Proposed text', html`<p class="erased">Erased</p>`)
    const words = html`<blockquote>${shownText(wordsOf(this.proposal))}</blockquote>`
    if (this.word === 'confirmed') return this.overView(`You confirmed this text to ${to}`, words)
    if (this.word === 'declined') return this.overView(`You declined this text to ${to}`, words)
    if (this.expired) return this.overView(`This text to ${to} expired and was not sent`, words)
    return html`<section aria-label="Proposed text to ${to}">
      <h3 class="title"><dg-icon name="sms"></dg-icon>Send this text to ${to}?</h3>
      ${words}
      ${this.submission.problem && problemView(this.submission.problem)}
      <div class="actions">
        ${this.button('confirm', 'Send text', 'Sending…', 'primary')} ${this.button('decline', 'Do not send', 'Declining…', '')}
        ${this.untilView()}
      </div>
    </section>`
  }

  /** A proposed deed: the deed as the heading, its source, and the words it concerns. */
  private deedView(): TemplateResult {
    if (isErased(this.proposal))
      return this.overView('Proposed by Delegate', html`<p class="erased">Erased</p>`)
    const deed = shownText(wordsOf(this.proposal, 'target'))
    const why = wordsOf(this.proposal, 'why')
    const text = shownText(wordsOf(this.proposal))
    const words =
      text === ''
        ? nothing
        : html`<blockquote class="words" tabindex=${this.reachable ? 0 : -1}>${text}</blockquote>`
    if (this.word === 'declined') return this.overView('You declined:', html`${words}`, 'close', deed)
    if (this.word === 'confirmed') return this.confirmedView(deed, words)
    if (this.expired) return this.overView('Expired, nothing was done:', html`${words}`, 'timer', deed)
    return html`<section aria-label=${deed}>
      <h3 class="title"><dg-icon name="help"></dg-icon><span><bdi>${deed}</bdi>?</span></h3>
      ${why === '' ? nothing : html`<p class="soft">${why}</p>`} ${words} ${this.submission.problem && problemView(this.submission.problem)}
      <div class="actions">
        ${this.button('confirm', wordsOf(this.proposal, 'verb'), 'Working…', 'primary')}
        ${this.button('decline', 'Decline', 'Declining…', '')} ${this.untilView()}
      </div>
    </section>`
  }

  private confirmedView(deed: string, words: unknown): TemplateResult {
    if (this.outcome === null) return this.overView('Confirmed, in progress:', html`${words}`, 'check', deed)
    if (this.outcome.isDone) return this.overView('Done:', html`${words}`, 'done', deed)
    return this.overView('Not done:', html`${words}<p class="soft">${this.outcome.text}</p>`, 'failed', deed)
  }

  private untilView(): TemplateResult {
    return html`<time class="until" datetime=${this.expiresAt} title=${fullTimeText(this.expiresAt)}>
      until ${untilText(new Date(this.expiresAt))}
    </time>`
  }

  private button(word: Word, label: string, busy: string, look: string): TemplateResult {
    return html`<button
      class="button small ${look}"
      tabindex=${this.reachable ? 0 : -1}
      ?disabled=${this.settling !== null || (word === 'confirm' && this.cut)}
      @click=${() => this.submit(word)}
    >
      ${this.settling === word ? busy : label}
    </button>`
  }

  private overView(
    heading: string,
    words: TemplateResult,
    icon: IconName = 'sms',
    deed = '',
  ): TemplateResult {
    return html`<section class="over" aria-label=${`${heading} ${deed}`.trim()}>
      <h3 class="title"><dg-icon name=${icon}></dg-icon><span>${heading} <bdi>${deed}</bdi></span></h3>
      ${words}
    </section>`
  }
}
