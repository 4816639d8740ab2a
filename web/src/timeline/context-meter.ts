import { html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { OperationsReport } from '../../../src/http/contract/operations.ts'
import type { SessionContext } from '../../../src/http/contract/session.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { barView } from '../design/bar.ts'
import { problemView } from '../design/field.ts'
import { countText, plural, shortDateText } from '../design/format.ts'
import { placeBelow } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import { contextMeterStyles } from './context-meter-styles.ts'
import { usageText, whyNotCompact } from './context-words.ts'

/** The period of the totals: 30 days. */
const query = { hours: 720 }

const relevantTypes = /^(context\.|turn\.|conversation\.|chat\.reply\.|settings\.changed|erased)/

type Context = {
  readonly context: SessionContext
  /** Loaded while the panel is open. */
  readonly total: OperationsReport['model'] | null
}

/** A gauge of how full the context is. Opens a panel with details and a button to compact it. */
@customElement('dg-context-meter')
export class DgContextMeter extends AppElement {
  static override readonly styles = contextMeterStyles
  @state() private open = false
  @state() private news = ''
  private readonly loaded = new Loaded<Context>(this, {
    fetch: async () => ({
      context: await this.app.http.get('/api/session/context'),
      total: this.open ? (await this.app.http.get('/api/session/operations', { query })).model : null,
    }),
    concerns: (type) => relevantTypes.test(type),
  })

  private readonly compact = async (): Promise<void> => {
    this.news = ''
    await this.submission.send(async () => {
      const context = await this.app.http.post('/api/session/context/compact')
      this.loaded.put({ context, total: this.loaded.value?.total ?? null })
      const { inputTokensBefore: before = 0, inputTokensAfter: after = 0 } = context.latestCompaction ?? {}
      this.news = msg`Compacted from ${countText(before)} to ${plural(after, msg`token`, msg`tokens`)}.`
    })
  }

  private readonly toggled = (event: ToggleEvent): void => {
    this.open = event.newState === 'open'
    if (!this.open) return
    this.news = ''
    this.submission.show({})
    const panel = event.currentTarget
    if (panel instanceof HTMLElement) placeBelow(panel, this)
    void this.loaded.reload()
  }

  override render() {
    const context = this.loaded.value?.context ?? null
    const percent = percentOf(context)
    const words = context === null ? msg`Context` : msg`Context: ${percent}% full`
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
        ${ring(percent)}
        <span class="percent">${context === null ? '' : `${percent}%`}</span>
      </button>
      <div class="popup" popover id="panel" role="dialog" aria-label=${msg`Context`} @toggle=${this.toggled}>
        ${this.open ? this.panelView() : nothing}
      </div>
    `
  }

  private panelView(): TemplateResult {
    return html`
      <h2>${msg`Context`}</h2>
      ${loadedView(this.loaded, msg`the context`, (value) => this.contextView(value))}
      ${problemView(this.submission.problem)}
      <p class="news" role="status">${this.submission.busy ? msg`Compacting…` : this.news}</p>
    `
  }

  private contextView({ context, total }: Context): TemplateResult {
    const usedTokens = Math.round(context.thresholdUtilization * context.compactThresholdTokens)
    const { busy } = this.submission
    const percent = percentOf(context)
    const reason = busy ? '' : whyNotCompact(context)
    return html`
      <p>
        <strong>${countText(usedTokens)}</strong> ${msg`of ${countText(context.compactThresholdTokens)} tokens`}
      </p>
      ${barView(percent, msg`${percent}% in use`)}
      <p class="soft">${msg`What the model reads before the next reply. Compacted automatically when full.`}</p>
      <dl>
        <dt>${msg`Summary`}</dt>
        <dd>${capsuleText(context)}</dd>
        <dt>${msg`Compacted`}</dt>
        <dd>${compactionText(context)}</dd>
        <dt>${msg`Last 30 days`}</dt>
        <dd>
          ${total === null ? '…' : `${plural(total.turns, msg`turn`, msg`turns`)}: ${usageText(total)}`}
        </dd>
      </dl>
      <button
        class="button small"
        ?disabled=${busy || !context.canCompact}
        aria-describedby="reason"
        @click=${this.compact}
      >
        ${busy ? msg`Compacting…` : msg`Compact now`}
      </button>
      <p class="soft" id="reason">${reason}</p>
    `
  }
}

/** Rounded, but 0 only for an empty context and 100 only for a full one. */
function percentOf(context: SessionContext | null): number {
  const share = context?.thresholdUtilization ?? 0
  if (share <= 0 || share >= 1) return share <= 0 ? 0 : 100
  return Math.min(99, Math.max(1, Math.round(share * 100)))
}

function capsuleText({ capsule }: SessionContext): string {
  if (!capsule.active) return msg`None yet`
  return capsule.updatedAt === null ? msg`Available` : msg`Updated ${shortDateText(capsule.updatedAt)}`
}

function compactionText({ latestCompaction, replacementRetained }: SessionContext): string {
  if (!latestCompaction) return msg`Not yet`
  const { at, source, inputTokensBefore, inputTokensAfter } = latestCompaction
  const by = source === 'manual' ? msg`by you` : msg`automatically`
  const kept = replacementRetained ? msg`in use` : msg`no longer in use`
  return msg`${shortDateText(at)}, ${by}: ${countText(inputTokensBefore)} to ${countText(inputTokensAfter)} tokens, ${kept}`
}

function ring(percent: number): TemplateResult {
  return html`<svg class="ring ${percent >= 85 ? 'full' : ''}" viewBox="0 0 20 20" aria-hidden="true">
    <circle class="track" cx="10" cy="10" r="7.5"></circle>
    <circle class="used" cx="10" cy="10" r="7.5" pathLength="100" stroke-dasharray="${percent} 100" transform="rotate(-90 10 10)"></circle>
  </svg>`
}
