import { html, LitElement, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { PlanGroups } from '../../../src/http/contract/erasures.ts'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'
import { planStyles, planView } from '../app/erasure-plan.ts'
import { waitingView } from '../app/loaded.ts'
import { timeText } from '../design/format.ts'
import { cardStyles } from './card-styles.ts'
import { titleOf } from './titles.ts'

/** An erasure that can still be undone: what will be erased and when, and what will be kept. */
@customElement('dg-erasure-card')
export class DgErasureCard extends LitElement {
  static override readonly styles = [controls, planStyles, cardStyles]
  @property({ attribute: false }) event!: TimelineEvent
  @property({ attribute: false }) load!: (erasureId: string) => Promise<PlanGroups | null>
  @property({ attribute: false }) undo!: (erasureId: string) => void
  @property({ type: Boolean }) reachable = false
  @state() private plan: PlanGroups | null = null
  @state() private failed = false

  override connectedCallback(): void {
    super.connectedCallback()
    void this.loadPlan()
  }

  private get erasureId(): string {
    return String(this.event.payload.erasureId)
  }

  private async loadPlan(): Promise<void> {
    try {
      this.plan = await this.load(this.erasureId)
    } catch {
      // Without its plan the card still lists the kinds of things and offers Undo.
      this.failed = true
    }
  }

  override render(): TemplateResult {
    const { event, plan, failed } = this
    return html`<section>
      <h2 class="title"><dg-icon name="erased"></dg-icon>${failed ? titleOf(event) : headingOf(event)}</h2>
      ${plan ? planView(plan) : failed ? nothing : waitingView('Loading the plan', 1)}
      <div class="actions">
        <button class="button small" tabindex=${this.reachable ? 0 : -1} @click=${() => this.undo(this.erasureId)}>
          Undo
        </button>
        <span class="soft">Hidden now, erased for good at ${timeText(String(event.payload.eraseAt))}.</span>
      </div>
    </section>`
  }
}

function headingOf({ payload }: TimelineEvent): string {
  if (payload.target === 'memory') return 'Forgetting a memory'
  return payload.target === 'words' ? 'No longer used' : 'Erasing'
}
