import { html, LitElement, nothing, svg, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { whenIdle } from '../app/platform.ts'
import { explain, type Http } from '../data/http.ts'
import {
  compactContext,
  fetchContext,
  fetchTotalUsage,
  type SessionContext,
  type Usage,
} from '../data/session.ts'
import type { TimelineEvent } from '../data/timeline.ts'
import { controls } from '../design/controls.ts'
import { problemView } from '../design/field.ts'
import { countText, plural, shortDateText } from '../design/format.ts'
import type { ChatSession } from './chat/session.ts'
import { contextMeterStyles } from './context-meter-styles.ts'
import { usageText, whyNotCompact } from './context-words.ts'

const totalHours = 720
/** Coalesces the events of a turn into one refresh. */
const debounceMs = 150

const relevantTypes = /^(context\.|turn\.|conversation\.|chat\.reply\.|settings\.changed|erased)/

/** A gauge of how full the context is. Opens a panel with details and a button to compact it. */
@customElement('dg-context-meter')
export class DgContextMeter extends LitElement {
  static override readonly styles = [controls, contextMeterStyles]
  @property({ attribute: false }) http!: Http
  @property({ attribute: false }) session!: ChatSession
  @state() private open = false
  @state() private context: SessionContext | null = null
  @state() private total: (Usage & { readonly turns: number }) | null = null
  @state() private compacting = false
  @state() private problem = ''
  /** Why the last compaction failed. Separate from `problem`, which the refresh after the attempt clears. */
  @state() private failure = ''
  @state() private news = ''
  private unfollow: () => void = () => undefined
  private timer: ReturnType<typeof setTimeout> | undefined

  override connectedCallback(): void {
    super.connectedCallback()
    this.unfollow = this.session.follow(this.onEvent)
    whenIdle(() => {
      // After leaving the page, the owner may have signed out.
      if (this.isConnected) void this.refresh()
    })
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.unfollow()
    clearTimeout(this.timer)
  }

  private readonly onEvent = ({ type }: TimelineEvent): void => {
    if (!relevantTypes.test(type)) return
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.refresh(), debounceMs)
  }

  private readonly refresh = async (): Promise<void> => {
    try {
      this.context = await fetchContext(this.http)
      if (this.open) this.total = await fetchTotalUsage(this.http, totalHours)
      this.problem = ''
    } catch (error) {
      this.problem = explain(error)
    }
  }

  private readonly compact = async (): Promise<void> => {
    this.compacting = true
    this.failure = ''
    this.news = ''
    try {
      const context = await compactContext(this.http)
      this.context = context
      const { inputTokensBefore: before = 0, inputTokensAfter: after = 0 } = context.latestCompaction ?? {}
      this.news = `Compacted from ${countText(before)} to ${plural(after, 'token')}.`
    } catch (error) {
      this.failure = explain(error)
    } finally {
      this.compacting = false
    }
  }

  private readonly toggled = (event: ToggleEvent): void => {
    this.open = event.newState === 'open'
    if (!this.open) return
    this.news = ''
    this.problem = ''
    this.failure = ''
    const panel = event.currentTarget
    if (panel instanceof HTMLElement) this.place(panel)
    void this.refresh()
  }

  private place(panel: HTMLElement): void {
    const { bottom, right } = this.getBoundingClientRect()
    const width = panel.getBoundingClientRect().width
    panel.style.top = `${bottom + 6}px`
    panel.style.left = `${Math.min(Math.max(8, right - width), innerWidth - width - 8)}px`
  }

  override render() {
    const percent = percentOf(this.context)
    const words = this.context === null ? 'Context' : `Context: ${percent}% full`
    return html`
      <button
        class="button quiet gauge"
        type="button"
        aria-label=${words}
        aria-haspopup="dialog"
        aria-expanded=${this.open}
        title=${words}
        popovertarget="panel"
      >
        ${ring(percent, this.compacting || (this.context?.compactionInFlight ?? false))}
        <span class="percent">${this.context === null ? '' : `${percent}%`}</span>
      </button>
      <div popover id="panel" role="dialog" aria-label="Context" @toggle=${this.toggled}>
        ${this.open ? this.panelView() : nothing}
      </div>
    `
  }

  private panelView(): TemplateResult {
    const { context } = this
    return html`
      <h2>Context</h2>
      ${
        context === null
          ? this.problem === ''
            ? html`<p class="soft" role="status">Loading…</p>`
            : html`<button class="button small" @click=${() => void this.refresh()}>Try again</button>`
          : this.contextView(context)
      }
      ${problemView(this.failure || this.problem)}
      <p class="news" role="status">${this.compacting ? 'Compacting…' : this.news}</p>
    `
  }

  private contextView(context: SessionContext): TemplateResult {
    const percent = percentOf(context)
    const reason = this.compacting ? '' : whyNotCompact(context)
    return html`
      <p>
        <strong>${countText(usedTokens(context))}</strong> of ${countText(context.compactThresholdTokens)} tokens
      </p>
      <svg class="bar" role="img" aria-label="${percent}% in use">
        <rect class="track" width="100%" height="100%" rx="3"></rect>
        <rect class="used" width="${percent}%" height="100%" rx="3"></rect>
      </svg>
      <p class="soft">What the model reads before the next reply. Compacted automatically when full.</p>
      <dl>
        <dt>Summary</dt>
        <dd>${capsuleText(context)}</dd>
        <dt>Compacted</dt>
        <dd>${compactionText(context)}</dd>
        <dt>Last 30 days</dt>
        <dd>
          ${this.total === null ? '…' : `${plural(this.total.turns, 'turn')}: ${usageText(this.total)}`}
        </dd>
      </dl>
      <button
        class="button small"
        ?disabled=${this.compacting || !context.canCompact}
        aria-describedby="reason"
        @click=${() => void this.compact()}
      >
        ${this.compacting ? 'Compacting…' : 'Compact now'}
      </button>
      <p class="soft" id="reason">${reason}</p>
    `
  }
}

function usedTokens({ thresholdUtilization, compactThresholdTokens }: SessionContext): number {
  return Math.round(thresholdUtilization * compactThresholdTokens)
}

/** Rounded, but 0 only for an empty context and 100 only for a full one. */
function percentOf(context: SessionContext | null): number {
  const share = context?.thresholdUtilization ?? 0
  if (share <= 0 || share >= 1) return share <= 0 ? 0 : 100
  return Math.min(99, Math.max(1, Math.round(share * 100)))
}

function capsuleText({ capsule }: SessionContext): string {
  if (!capsule.active) return 'None yet'
  return capsule.updatedAt === null ? 'Available' : `Updated ${shortDateText(capsule.updatedAt)}`
}

function compactionText({ latestCompaction, replacementRetained }: SessionContext): string {
  if (!latestCompaction) return 'Not yet'
  const { at, source, inputTokensBefore, inputTokensAfter } = latestCompaction
  const by = source === 'manual' ? 'by you' : 'automatically'
  const kept = replacementRetained ? 'in use' : 'no longer in use'
  return `${shortDateText(at)}, ${by}: ${countText(inputTokensBefore)} to ${countText(inputTokensAfter)} tokens, ${kept}`
}

function ring(percent: number, busy: boolean): TemplateResult {
  return html`<svg class="ring ${busy ? 'busy' : ''} ${percent >= 85 ? 'full' : ''}" viewBox="0 0 20 20" aria-hidden="true">
    ${svg`<circle class="track" cx="10" cy="10" r="7.5"></circle>
      <circle class="used" cx="10" cy="10" r="7.5" pathLength="100" stroke-dasharray="${percent} 100"
        transform="rotate(-90 10 10)"></circle>`}
  </svg>`
}
