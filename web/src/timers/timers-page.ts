import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { Timer } from '../../../src/http/contract/timers.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { relativeText } from '../design/format.ts'
import { iconButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'
import { zonedText } from '../design/owner-time.ts'
import { tick } from '../design/while-connected.ts'
import type { Reminder } from '../timeline/reminder-states.ts'
import './calendar-feed.ts'
import { recurrenceText } from './recurrence.ts'
import { tickOff } from './settle.ts'
import { snoozeItems } from './snooze-dialog.ts'
import { DgTimerDialog } from './timer-dialog.ts'

/** Updates texts such as "in 5 minutes". */
const tickMs = 30_000
/** An occurrence that fired this long after its time was late. */
const lateMs = 60_000
const limit = 500

type Listed = { readonly open: readonly Timer[]; readonly all: readonly Timer[] }

/** Open, coming and past timers, and their calendar. */
@customElement('dg-timers-page')
export class DgTimersPage extends AppElement {
  static override readonly styles = css`
    li {
      flex-wrap: wrap;
    }
    .what {
      flex-basis: min(12rem, 100%);
    }
    .acts {
      gap: var(--space-2);
    }
    .due {
      justify-content: space-between;
      margin-bottom: var(--space-2);
    }
    .due .heading {
      margin: 0;
    }
  `
  private readonly timers = new Loaded<Listed>(this, {
    fetch: async (signal) => {
      // An open one may be behind hundreds that are over.
      const [open, all] = await Promise.all([
        this.app.http.get('/api/timers', { query: { open: 'true', limit }, signal }),
        this.app.http.get('/api/timers', { query: { limit }, signal }),
      ])
      return { open: open.timers, all: all.timers }
    },
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
      heading: msg`Cancel this reminder?`,
      content: msg`Delegate will not remind you of “${timer.title}”.`,
      action: msg`Cancel reminder`,
      keep: msg`Keep reminder`,
      run: () => this.app.http.del('/api/timers/{id}', { params: { id: timer.id } }),
      done: msg`Reminder cancelled`,
      reload: this.timers.reload,
    })
  }

  private confirmTickingOff(open: readonly Timer[]): void {
    askToConfirm(this, {
      heading: msg`Tick off all ${open.length} reminders?`,
      content: msg`Those that repeat will remind you again.`,
      action: msg`Tick off all`,
      look: 'primary',
      run: async () => {
        for (const timer of open) await tickOff(this.app, reminderOf(timer))
      },
      reload: this.timers.reload,
    })
  }

  private readonly tickOff = (timer: Timer): void =>
    void this.app.attempt(async () => {
      await tickOff(this.app, reminderOf(timer))
      await this.timers.reload()
    })

  private readonly openDialog = (timer: Timer | null): void => {
    Object.assign(new DgTimerDialog(), { timer, onSet: this.timers.reload }).openIn(this)
  }

  private readonly setTimer = (): void => this.openDialog(null)

  override render() {
    return html`<dg-page heading=${msg`Reminders`}>
      <button slot="tools" class="button primary small" @click=${this.setTimer}>
        <dg-icon name="plus"></dg-icon>${msg`Set a reminder`}
      </button>
      ${loadedView(
        this.timers,
        msg`the reminders`,
        (listed) => html`${this.timersView(listed)}
          <dg-calendar-feed .app=${this.app}></dg-calendar-feed>`,
      )}
    </dg-page>`
  }

  private timersView({ open, all }: Listed): TemplateResult {
    if (all.length === 0) {
      return html`<dg-state icon="timer" heading=${msg`No reminders yet`}>
        <p>${msg`Set one here, or just ask: “remind me tomorrow at nine to call the garage”.`}</p>
        <button class="button primary" @click=${this.setTimer}>${msg`Set a reminder`}</button>
      </dg-state>`
    }
    const rest = all.filter((timer) => timer.open === null)
    const active = rest.filter(({ status }) => status === 'active')
    const over = rest.filter(({ status }) => status !== 'active')
    return html`
      ${open.length === 0 ? nothing : this.openListView(open)}
      ${
        active.length === 0
          ? html`<p class="facts">${open.length === 0 ? msg`No reminders are coming up.` : msg`Nothing else is coming up.`}</p>`
          : html`<ul class="list cards" aria-label=${msg`Coming up`}>
              ${active.map((timer) => this.activeView(timer))}
            </ul>`
      }
      ${
        over.length === 0
          ? nothing
          : html`<h2 class="heading">${msg`Past`}</h2>
              <ul class="list cards" aria-label=${msg`Past`}>
                ${over.map((timer) => overView(timer, all))}
              </ul>`
      }
    `
  }

  private openListView(open: readonly Timer[]): TemplateResult {
    return html`<div class="beside due">
        <h2 class="heading">${msg`Due`}</h2>
        ${
          open.length === 1
            ? nothing
            : html`<button class="button small" @click=${() => this.confirmTickingOff(open)}>${msg`All done`}</button>`
        }
      </div>
      <ul class="list cards" aria-label=${msg`Due`}>
        ${open.map((timer) => this.openView(timer))}
      </ul>
      <h2 class="heading">${msg`Coming up`}</h2>`
  }

  private openView(timer: Timer): TemplateResult {
    const { occurrence } = reminderOf(timer)
    return html`<li id=${timer.id} tabindex="-1">
      <div class="what">
        <p>${timer.title || msg`Erased`}</p>
        <p class="facts">
          <time datetime=${occurrence}>${zonedText(occurrence, timer.timezone)}</time>
          <span>${relativeText(occurrence)}</span>
          ${lateView(timer, occurrence)}
        </p>
        ${
          timer.status === 'active'
            ? html`<p class="facts">
                <span>${recurrenceText(timer.recurrence ?? '')}</span>
                <span>${msg`next ${zonedText(timer.dueAt, timer.timezone)}`}</span>
              </p>`
            : nothing
        }
      </div>
      <div class="actions acts">
        <button class="button small" aria-label=${msg`Done: ${timer.title}`} @click=${() => this.tickOff(timer)}>
          <dg-icon name="check"></dg-icon>${msg`Done`}
        </button>
        ${
          timer.title === ''
            ? nothing
            : html`<dg-menu
                text=${msg`Snooze`}
                label=${msg`Snooze: ${timer.title}`}
                .items=${snoozeItems(this, reminderOf(timer))}
              ></dg-menu>`
        }
        ${timer.status === 'active' ? this.toolsView(timer) : nothing}
      </div>
    </li>`
  }

  private toolsView(timer: Timer): TemplateResult {
    return html`${iconButton('edit', msg`Edit ${timer.title}`, () => this.openDialog(timer), 'quiet small', msg`Edit`)}
    ${iconButton('close', msg`Cancel ${timer.title}`, () => this.confirmCancelling(timer), 'quiet small', msg`Cancel`)}`
  }

  private activeView(timer: Timer): TemplateResult {
    return html`<li id=${timer.id} tabindex="-1">
      <div class="what">
        <p>${timer.title || msg`Erased`}</p>
        <p class="facts">
          <time datetime=${timer.dueAt}>${zonedText(timer.dueAt, timer.timezone)}</time>
          <span>${relativeText(timer.dueAt)}</span>
        </p>
        <p class="facts">
          <span title=${timer.recurrence ?? nothing}>
            ${timer.recurrence === null ? (timer.snoozes ? msg`Snoozed` : msg`Once`) : recurrenceText(timer.recurrence)}
          </span>
          <span>
            ${timer.missedPolicy === 'skip' ? msg`Skipped if missed` : msg`If missed, fires once afterwards`}
          </span>
          <span>${timer.by === 'owner' ? msg`Set by you` : msg`Set by Delegate`}</span>
        </p>
      </div>
      <div class="actions acts">${this.toolsView(timer)}</div>
    </li>`
  }
}

const reminderOf = ({ id, open, dueAt }: Timer): Reminder => ({ id, occurrence: open ?? dueAt })

/** Whether Delegate was off when an occurrence was due, and if so whether it reminded afterwards. */
function lateView({ lastFiredAt }: Timer, occurrence: string): TemplateResult | typeof nothing {
  const lateByMs = lastFiredAt === null ? -1 : Date.parse(lastFiredAt) - Date.parse(occurrence)
  if (lateByMs < 0) return html`<span>${msg`Missed while Delegate was off`}</span>`
  return lateByMs > lateMs ? html`<span>${msg`Shown late: Delegate was off`}</span>` : nothing
}

function overView(timer: Timer, all: readonly Timer[]): TemplateResult {
  const snooze = timer.settled === 'snoozed' && all.find(({ snoozes }) => snoozes?.timerId === timer.id)
  const at = (snooze || null)?.dueAt ?? timer.lastFiredAt ?? timer.dueAt
  return html`<li class="over" id=${timer.id} tabindex="-1">
    <div class="what">
      <p>${timer.title || msg`Erased`}</p>
      <p class="facts">
        <span>${endText(timer)}</span>
        <time datetime=${at}>${zonedText(at, timer.timezone)}</time>
        ${timer.recurrence === null ? nothing : html`<span>${recurrenceText(timer.recurrence)}</span>`}
      </p>
    </div>
  </li>`
}

function endText({ status, lastFiredAt, settled }: Timer): string {
  if (settled === 'snoozed') return msg`Snoozed, due again`
  if (settled === 'done') return lastFiredAt === null ? msg`Done, was due` : msg`Done, fired`
  if (status === 'cancelled')
    return lastFiredAt === null ? msg`Cancelled, was due` : msg`Cancelled, last fired`
  return lastFiredAt === null ? msg`Missed, was due` : msg`Fired`
}
