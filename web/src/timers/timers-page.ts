import { html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { Timer } from '../../../src/http/contract/timers.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { relativeText } from '../design/format.ts'
import { iconButton } from '../design/icon-button.ts'
import { zonedText } from '../design/owner-time.ts'
import { tick } from '../design/while-connected.ts'
import { recurrenceText } from './recurrence.ts'
import { DgTimerDialog } from './timer-dialog.ts'

/** Updates texts such as "in 5 minutes". */
const tickMs = 30_000

/** Active and past timers. */
@customElement('dg-timers-page')
export class DgTimersPage extends AppElement {
  private readonly timers = new Loaded<readonly Timer[]>(this, {
    fetch: async (signal) =>
      (await this.app.http.get('/api/timers', { query: { limit: 500 }, signal })).timers,
    concerns: (type) => type.startsWith('timer.') || type === 'erased',
  })

  constructor() {
    super()
    tick(this, tickMs)
  }

  protected override updated(): void {
    this.followLink()
  }

  /** Follows a link to one timer (`/timers#<id>`), once, as soon as the timer is loaded. */
  private followLink(): void {
    const id = decodeURIComponent(location.hash.slice(1))
    const card = id === '' ? null : this.renderRoot.querySelector<HTMLElement>(`[id="${CSS.escape(id)}"]`)
    if (!card) return
    history.replaceState(null, '', location.pathname)
    card.scrollIntoView({ block: 'center' })
    card.focus({ preventScroll: true })
  }

  private confirmCancelling(timer: Timer): void {
    askToConfirm(this, {
      heading: 'Cancel this timer?',
      content: `“${timer.title}” will no longer wake Delegate.`,
      action: 'Cancel timer',
      keep: 'Keep timer',
      run: async () => {
        await this.app.http.del('/api/timers/{id}', { params: { id: timer.id } })
        this.app.toast('Timer cancelled')
        await this.timers.reload()
      },
    })
  }

  private readonly setTimer = (): void => {
    Object.assign(new DgTimerDialog(), { onSet: this.timers.reload }).openIn(this)
  }

  override render() {
    return html`<dg-page heading="Timers">
      <button slot="tools" class="button primary small" @click=${this.setTimer}>
        <dg-icon name="plus"></dg-icon>Set a timer
      </button>
      ${loadedView(this.timers, 'the timers', (timers) => this.timersView(timers))}
    </dg-page>`
  }

  private timersView(timers: readonly Timer[]): TemplateResult {
    if (timers.length === 0) {
      return html`<dg-state icon="timer" heading="No timers yet">
        <p>Set one here, or just ask: “remind me tomorrow at nine to call the garage”.</p>
        <button class="button primary" @click=${this.setTimer}>Set a timer</button>
      </dg-state>`
    }
    const active = timers.filter(({ status }) => status === 'active')
    const over = timers.filter(({ status }) => status !== 'active')
    return html`
      ${
        active.length === 0
          ? html`<p class="facts">No active timers.</p>`
          : html`<ul class="list cards" aria-label="Coming up">
              ${active.map((timer) => this.activeView(timer))}
            </ul>`
      }
      ${
        over.length === 0
          ? nothing
          : html`<h2 class="heading">Past</h2>
              <ul class="list cards" aria-label="Past">
                ${over.map((timer) => overView(timer))}
              </ul>`
      }
    `
  }

  private activeView(timer: Timer): TemplateResult {
    return html`<li id=${timer.id} tabindex="-1">
      <div class="what">
        <p>${timer.title || 'Erased'}</p>
        <p class="facts">
          <time datetime=${timer.dueAt}>${zonedText(timer.dueAt, timer.timezone)}</time>
          <span>${relativeText(timer.dueAt)}</span>
        </p>
        <p class="facts">
          <span title=${timer.recurrence ?? nothing}>
            ${timer.recurrence === null ? 'Once' : recurrenceText(timer.recurrence)}
          </span>
          <span>
            ${timer.missedPolicy === 'skip' ? 'Skipped if missed' : 'If missed, fires once afterwards'}
          </span>
          <span>Set by ${timer.by === 'owner' ? 'you' : 'Delegate'}</span>
        </p>
      </div>
      ${iconButton('close', `Cancel ${timer.title}`, () => this.confirmCancelling(timer), 'quiet small', 'Cancel')}
    </li>`
  }
}

function overView(timer: Timer): TemplateResult {
  const at = timer.lastFiredAt ?? timer.dueAt
  return html`<li class="over" id=${timer.id} tabindex="-1">
    <div class="what">
      <p>${timer.title || 'Erased'}</p>
      <p class="facts">
        <span>${endText(timer)}</span>
        <time datetime=${at}>${zonedText(at, timer.timezone)}</time>
        ${timer.recurrence === null ? nothing : html`<span>${recurrenceText(timer.recurrence)}</span>`}
      </p>
    </div>
  </li>`
}

function endText({ status, lastFiredAt }: Timer): string {
  if (status === 'cancelled') return lastFiredAt === null ? 'Cancelled, was due' : 'Cancelled, last fired'
  return lastFiredAt === null ? 'Missed, was due' : 'Fired'
}
