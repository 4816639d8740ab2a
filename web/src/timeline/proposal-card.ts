import { css, html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { AppElement } from '../app/app-element.ts'
import { problemView } from '../design/field.ts'
import { fullTimeText } from '../design/format.ts'
import type { IconName } from '../design/icon.ts'
import { msg, translateSentence } from '../design/msg.ts'
import { ownerFormat } from '../design/owner-time.ts'
import { tick } from '../design/while-connected.ts'
import { cardStyles } from './card-styles.ts'
import './choices.ts'
import { isErased, wordsOf } from './event-kinds.ts'
import { shownText } from './shown-text.ts'
import type { ProposalOutcome } from './tree.ts'

type Word = 'confirm' | 'decline'

const untilText = ownerFormat({ weekday: 'long', hour: '2-digit', minute: '2-digit' })

/** A proposal (a text to someone else, or a deed) with its buttons, or how it was settled. */
@customElement('dg-proposal')
export class DgProposal extends AppElement {
  static override readonly styles = [
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
  @property({ attribute: false }) showAll!: (event: TimelineEvent) => Promise<unknown>
  @property({ type: Boolean }) reachable = false
  @state() private settling: Word | null = null
  @state() private chosen: readonly string[] = []

  constructor() {
    super()
    // Removes the buttons once the proposal expires.
    tick(this, 1000, () => this.word === null)
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('cut') && this.cut) void this.showAll(this.proposal)
  }

  private get expiresAt(): string {
    const { expiresAt } = this.proposal.payload
    return typeof expiresAt === 'string' ? expiresAt : ''
  }

  private async submit(word: Word): Promise<void> {
    const { proposalId } = this.proposal.payload
    if (this.settling !== null || typeof proposalId !== 'string') return
    this.settling = word
    await this.submission.send(() =>
      word === 'decline'
        ? this.app.http.post('/api/proposals/{id}/decline', { params: { id: proposalId } })
        : this.app.http.post('/api/proposals/{id}/confirm', {
            params: { id: proposalId },
            body: this.choiceCount === 0 ? {} : { chosen: [...this.chosen] },
          }),
    )
    this.settling = null
  }

  private get isText(): boolean {
    return this.proposal.payload.kind !== 'tool'
  }

  /** How many things the owner chooses from; 0 if there is nothing to choose. */
  private get choiceCount(): number {
    const { choices } = this.proposal.payload
    return Array.isArray(choices) ? choices.length : 0
  }

  /** What was proposed, in a few words. */
  private get deed(): string {
    if (!this.isText) return shownText(translateSentence(wordsOf(this.proposal, 'target')))
    const { target } = this.proposal.payload
    return msg`Send this text to ${typeof target === 'string' ? shownText(target) : msg`someone else`}`
  }

  override render() {
    if (isErased(this.proposal)) return this.overView(msg`Proposed by Delegate`, 'help', '')
    if (this.word === 'declined') return this.overView(msg`You declined:`, 'close')
    if (this.word === 'confirmed') return this.confirmedView()
    return Date.parse(this.expiresAt) <= Date.now()
      ? this.overView(msg`Expired, nothing was done:`, 'timer')
      : this.openView()
  }

  private confirmedView(): TemplateResult {
    if (this.isText) return this.overView(msg`You confirmed:`, 'sms')
    if (this.outcome === null) return this.overView(msg`Confirmed, in progress:`, 'check')
    return this.outcome.isDone ? this.overView(msg`Done:`, 'done') : this.overView(msg`Not done:`, 'failed')
  }

  private openView(): TemplateResult {
    const { isText, proposal, choiceCount } = this
    const why = wordsOf(proposal, 'why')
    const deed = choiceCount > 1 ? msg`Which of these should be forgotten` : this.deed
    return html`<section class="stack" aria-label=${deed}>
      <h2 class="beside title"><dg-icon name=${isText ? 'sms' : 'help'}></dg-icon><span><bdi>${deed}</bdi>?</span></h2>
      ${isText || why === '' ? nothing : html`<p class="soft">${why}</p>`}
      ${choiceCount > 0 ? this.choicesView() : this.wordsView()}
      ${this.submission.problem && problemView(this.submission.problem)}
      <div class="actions">
        ${this.button('confirm', isText ? msg`Send text` : translateSentence(wordsOf(proposal, 'verb')), msg`Working…`, 'primary')}
        ${this.button('decline', isText ? msg`Do not send` : choiceCount > 0 ? msg`Keep everything` : msg`Decline`, msg`Declining…`, '')} ${this.untilView()}
      </div>
    </section>`
  }

  private choicesView(): TemplateResult {
    return html`<dg-choices
      class="stack"
      .proposalId=${this.proposal.payload.proposalId}
      .app=${this.app}
      .reachable=${this.reachable}
      @chosen=${({ detail }: CustomEvent<readonly string[]>) => {
        this.chosen = detail
      }}
    ></dg-choices>`
  }

  /** The words that it concerns, if any. */
  private wordsView(): TemplateResult | typeof nothing {
    if (isErased(this.proposal)) return html`<p class="erased">${msg`Erased`}</p>`
    const text = shownText(wordsOf(this.proposal))
    if (text === '') return nothing
    return html`<blockquote class="words" tabindex=${this.reachable ? 0 : -1}>${text}</blockquote>`
  }

  /** Whether all the words are shown, and something is chosen if there is a choice. */
  private get isReady(): boolean {
    return !this.cut && (this.choiceCount === 0 || this.chosen.length > 0)
  }

  private untilView(): TemplateResult {
    return html`<time class="tiny until" datetime=${this.expiresAt} title=${fullTimeText(this.expiresAt)}>
      ${msg`until ${untilText(new Date(this.expiresAt))}`}
    </time>`
  }

  private button(word: Word, label: string, busy: string, look: string): TemplateResult {
    return html`<button
      class="button small ${look}"
      tabindex=${this.reachable ? 0 : -1}
      ?disabled=${this.settling !== null || (word === 'confirm' && !this.isReady)}
      @click=${() => this.submit(word)}
    >
      ${this.settling === word ? busy : label}
    </button>`
  }

  private overView(heading: string, icon: IconName, deed = this.deed): TemplateResult {
    return html`<section class="stack over" aria-label=${`${heading} ${deed}`.trim()}>
      <h2 class="beside title"><dg-icon name=${icon}></dg-icon><span>${heading} <bdi>${deed}</bdi></span></h2>
      ${this.wordsView()}
      ${icon === 'failed' ? html`<p class="soft">${translateSentence(this.outcome?.text ?? '')}</p>` : nothing}
    </section>`
  }
}
