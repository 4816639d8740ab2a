import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { Delivery, Task } from '../../../src/http/contract/tasks.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import {
  capitalised,
  durationText,
  fullTimeText,
  plural,
  relativeText,
  timeText,
  wordsText,
} from '../design/format.ts'
import { labelButton } from '../design/icon-button.ts'
import { msg, translateSentence } from '../design/msg.ts'
import {
  channelText,
  deliveryText,
  failureText,
  isolationText,
  outcomeText,
  reasonText,
  statusOf,
} from './task-words.ts'

/** A task with its state; unfolds to its text and delivery attempts. Fires `cancel` and `retry`. */
@customElement('dg-task-card')
export class DgTaskCard extends AppElement {
  static override readonly styles = css`
    .head {
      display: flex;
      align-items: flex-start;
      gap: var(--space-2) var(--space-3);
    }
    h3 {
      font-size: var(--text-md);
      font-weight: 550;
      line-height: 1.4;
    }
    .status {
      gap: 0.375rem;
      font-weight: 550;
      white-space: nowrap;
    }
    .status.good {
      color: var(--success);
    }
    .status.bad {
      color: var(--danger);
    }
    .status.live {
      color: var(--accent);
    }
    .line {
      display: flex;
      gap: var(--space-2);
      margin-top: var(--space-2);
      font-size: var(--text-sm);
    }
    .line dg-icon {
      margin-top: 0.2em;
    }
    .line.undelivered dg-icon {
      color: var(--warning);
    }
    .progress {
      padding: var(--space-2) var(--space-3);
      border-radius: var(--radius-sm);
      background: var(--sunken);
      font: 400 var(--text-sm) / 1.5 var(--font-mono);
    }
    .progress + .facts {
      margin-top: var(--space-2);
    }
    .actions {
      margin-top: var(--space-3);
    }
    dg-task-details {
      margin-top: var(--space-4);
    }
  `
  @property({ attribute: false }) task!: Task
  @property({ attribute: false }) now!: Date
  @state() private open = false

  private fire(name: 'cancel' | 'retry', what?: 'work' | 'delivery'): void {
    this.dispatchEvent(new CustomEvent(name, { detail: what }))
  }

  override render() {
    const { task } = this
    const { text, icon, tone } = statusOf(task)
    const delivery = deliveryText(task)
    const isUndelivered = ['fallback', 'failed', 'unknown'].includes(task.deliveryState)
    return html`
      <div class="head">
        <h3 class="what">${task.title || msg`Erased`}</h3>
        <span class="beside soft status ${tone}"><dg-icon name=${icon}></dg-icon>${text}</span>
      </div>
      <p class="facts">
        <time datetime=${task.dispatchedAt} title=${fullTimeText(task.dispatchedAt)}
          >${relativeText(task.dispatchedAt, this.now)}</time
        >
        <span>${this.timeView()}</span>
        <span>${task.by === 'owner' ? msg`by you` : msg`by Delegate`}</span>
        <span>${isolationText(task)}</span>
      </p>
      ${task.status === 'running' ? this.progressView() : nothing}
      ${
        task.status === 'failed'
          ? html`<p class="line"><dg-icon name="warning"></dg-icon><span>${reasonText(task)}</span></p>`
          : nothing
      }
      ${
        delivery === ''
          ? nothing
          : html`<p class="line ${isUndelivered ? 'undelivered' : ''}">
              <dg-icon name=${isUndelivered ? 'warning' : 'bell'}></dg-icon><span>${delivery}</span>
            </p>`
      }
      <div class="actions">
        <button class="button small" aria-expanded=${this.open} @click=${() => (this.open = !this.open)}>
          ${this.open ? msg`Hide details` : msg`Details`}
        </button>
        ${this.actionsView(isUndelivered)}
      </div>
      ${this.open ? html`<dg-task-details .app=${this.app} .task=${task}></dg-task-details>` : nothing}
    `
  }

  private timeView(): string {
    const { status, startedAt, durationMs, timeoutMinutes, notify } = this.task
    if (status === 'queued') return msg`waiting to start, time limit ${timeoutMinutes} min`
    if (status === 'running' && startedAt !== null) {
      const runningMs = Math.max(0, this.now.getTime() - Date.parse(startedAt))
      return msg`running for ${durationText(runningMs)} of at most ${timeoutMinutes} min, outcome ${channelText(notify)}`
    }
    return durationMs === null ? '' : msg`took ${durationText(durationMs)}`
  }

  private progressView(): TemplateResult {
    const { latestProgress, progressCount } = this.task
    if (!latestProgress) return html`<p class="line facts">${msg`No progress reported yet`}</p>`
    return html`
      <p class="line progress" role="status">${translateSentence(latestProgress.text)}</p>
      <p class="facts">${msg`${plural(progressCount, msg`report`, msg`reports`)}, latest at ${timeText(latestProgress.at)}`}</p>
    `
  }

  private actionsView(isUndelivered: boolean): TemplateResult {
    const { status, title } = this.task
    const isOpen = status === 'queued' || status === 'running'
    return html`
      ${
        isOpen
          ? html`<button class="button small" aria-label=${msg`Cancel ${title}`} @click=${() => this.fire('cancel')}>
              <dg-icon name="stop"></dg-icon>${msg`Cancel`}
            </button>`
          : nothing
      }
      ${
        status === 'failed' || status === 'cancelled'
          ? labelButton('retry', msg`Run again`, () => this.fire('retry', 'work'))
          : nothing
      }
      ${isUndelivered ? labelButton('retry', msg`Deliver again`, () => this.fire('retry', 'delivery')) : nothing}
    `
  }
}

/** The text of a task and its outcome, and how it was delivered. */
@customElement('dg-task-details')
export class DgTaskDetails extends AppElement {
  static override readonly styles = css`
    pre {
      max-height: 22rem;
    }
    ol {
      margin: 0;
      padding: 0 0 0 var(--space-5);
      font-size: var(--text-sm);
    }
    ol time {
      color: var(--ink-soft);
    }
    .delivery + .delivery {
      margin-top: var(--space-2);
    }
    .delivery > p {
      font-size: var(--text-sm);
    }
  `
  @property({ attribute: false }) task!: Task
  private readonly whole = new Loaded(this, {
    fetch: () => this.app.http.get('/api/tasks/{id}', { params: { id: this.task.id } }),
    concerns: (type) => /^task\.|^erased$/.test(type),
  })

  override render() {
    const { deliveries } = this.task
    return loadedView(
      this.whole,
      msg`the details`,
      ({ prompt, outcome }) => html`
        <h4 class="subhead">${msg`Prompt`}</h4>
        <pre tabindex="0">${prompt || msg`Erased`}</pre>
        ${
          outcome === null
            ? nothing
            : html`<h4 class="subhead">${msg`Outcome`}</h4>
                <pre tabindex="0">${translateSentence(outcome) || msg`No output.`}</pre>`
        }
        ${
          deliveries.length === 0
            ? nothing
            : html`<h4 class="subhead">${msg`Deliveries`}</h4>
                ${deliveries.map(deliveryView)}`
        }
      `,
    )
  }
}

function deliveryView(delivery: Delivery): TemplateResult {
  const { channel, fallbackOf, retryOf, attempts, retryAt } = delivery
  const why = fallbackOf !== null ? msg` (fallback)` : retryOf !== null ? msg` (retry)` : ''
  return html`<div class="delivery">
    <p>
      ${capitalised(channelText(channel))}${why}: ${outcomeText(delivery)}
      ${retryAt === null ? nothing : html`<time datetime=${retryAt}>${msg`at ${timeText(retryAt)}`}</time>`}
    </p>
    ${
      attempts.length === 0
        ? nothing
        : html`<ol aria-label=${msg`Attempts ${channelText(channel)}`}>
            ${attempts.map((attempt) => html`<li>${attemptText(attempt)}</li>`)}
          </ol>`
    }
  </div>`
}

function attemptText({ startedAt, outcome, kind }: Delivery['attempts'][number]): TemplateResult {
  const words =
    outcome === null
      ? msg`in progress or interrupted`
      : outcome === 'unknown'
        ? msg`not confirmed`
        : wordsText(outcome)
  return html`${words}${kind === null ? nothing : ` (${failureText(kind)})`}
    <time datetime=${startedAt}>${fullTimeText(startedAt)}</time>`
}
