import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { AppElement } from '../app/app-element.ts'
import { planStyles, planView } from '../app/erasure-plan.ts'
import { Loaded, waitingView } from '../app/loaded.ts'
import { timeText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { cardStyles } from './card-styles.ts'
import { titleOf } from './titles.ts'

/** An erasure that can still be undone: what will be erased and when, and what will be kept. */
@customElement('dg-erasure-card')
export class DgErasureCard extends AppElement {
  static override readonly styles = [planStyles, cardStyles]
  @property({ attribute: false }) event!: TimelineEvent
  @property({ attribute: false }) undo!: (erasureId: string) => void
  @property({ type: Boolean }) reachable = false
  private readonly erasure = new Loaded(this, {
    fetch: () => this.app.http.get('/api/erasures/{id}', { params: { id: this.erasureId } }),
    concerns: (type) => type.startsWith('erasure.'),
  })

  private get erasureId(): string {
    return String(this.event.payload.erasureId)
  }

  private messagesView(): TemplateResult {
    const erase = () =>
      this.app.http.post('/api/erasures', { body: { kind: 'messages', id: this.erasureId } })
    return html`<p class="soft">${msg`Your messages stay on the timeline, but are no longer used.`}</p>
      <div class="actions">
        <button
          class="button small"
          tabindex=${this.reachable ? 0 : -1}
          @click=${() => void this.app.attempt(erase)}
        >
          ${msg`Erase the messages too`}
        </button>
      </div>`
  }

  override render(): TemplateResult {
    const { event } = this
    const { value, problem } = this.erasure
    // Without its plan, the card still lists the kinds of things and offers Undo.
    const failed = problem !== ''
    return html`<section class="stack">
      <h2 class="beside title"><dg-icon name="erased"></dg-icon>${failed ? titleOf(event) : headingOf(event)}</h2>
      ${value?.plan ? html`<div>${planView(value.plan)}</div>` : failed ? nothing : waitingView(msg`Loading the plan`, 1)}
      ${value?.plan?.stays.some(({ kind }) => kind === 'message') ? this.messagesView() : nothing}
      <div class="actions">
        <button class="button small" tabindex=${this.reachable ? 0 : -1} @click=${() => this.undo(this.erasureId)}>
          ${msg`Undo`}
        </button>
        <span class="soft">${msg`Hidden now, erased for good at ${timeText(String(event.payload.eraseAt))}.`}</span>
      </div>
    </section>`
  }
}

function headingOf({ payload: { target, memoryIds } }: TimelineEvent): string {
  if (target === 'memory') return msg`Forgetting a memory`
  if (target !== 'words') return msg`Erasing`
  return Array.isArray(memoryIds) && memoryIds.length > 0 ? msg`Forgetting` : msg`No longer used`
}
