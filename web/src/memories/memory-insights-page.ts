import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { MemoryInsights } from '../../../src/http/contract/memories.ts'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { fullTimeText, plural, relativeText, wordsText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { titleOf } from '../timeline/titles.ts'
import {
  deduplicationFigures,
  isUnderWay,
  kindFigures,
  type MemoryFigure,
  recallFigures,
  storeFigures,
} from './memory-figures.ts'

/** Embedding records no events, so the page polls while it is in progress. */
const progressMs = 2_000
const retryMs = 5_000

function againMs(embedding: MemoryInsights['runtime']['embedding']): number | null {
  if (embedding.state === 'waiting') return retryMs
  return isUnderWay(embedding) ? progressMs : null
}

/** The state of memory: totals, outcomes of candidates, running work and recent events. */
@customElement('dg-memory-insights-page')
export class DgMemoryInsightsPage extends AppElement {
  static override readonly styles = css`
    dl {
      border: 1px solid var(--line);
      border-radius: var(--radius-md);
      background: var(--surface);
    }
    dl > div {
      display: grid;
      grid-template-columns: minmax(0, 1fr) auto;
      align-items: center;
      gap: 0 var(--space-4);
      padding: var(--space-2) var(--space-4);
      min-height: 2.75rem;
    }
    dl > div + div {
      border-top: 1px solid var(--line);
    }
    dt {
      font-weight: 550;
    }
    dd.meaning {
      grid-column: 1;
    }
    dd.value {
      grid-area: 1 / 2 / span 2;
      font-size: var(--text-lg);
      font-weight: 600;
      font-variant-numeric: tabular-nums;
      text-align: end;
    }
    dd.value:nth-last-child(1) {
      grid-row-end: span 1;
    }
    .live dd.value {
      color: var(--accent);
    }
    .bad dd.value,
    .bad dd.meaning dg-icon {
      color: var(--danger);
    }
    dd.meaning dg-icon {
      vertical-align: -0.15em;
    }
    .none dd.value {
      color: var(--ink-faint);
      font-weight: 400;
    }
    .events a {
      flex: none;
      font-size: var(--text-sm);
    }
    .note {
      color: var(--ink-soft);
    }
  `
  private readonly insights = new Loaded<MemoryInsights>(this, {
    fetch: (signal) => this.app.http.get('/api/memories/insights', { signal }),
    concerns: (type) => type === 'erased' || type.startsWith('memory.'),
    againMs: (insights) => (insights === null ? null : againMs(insights.runtime.embedding)),
  })

  override render() {
    return html`<dg-page heading=${msg`Memory Insights`}>
      <a class="back" href="/memories"><dg-icon name="chevron"></dg-icon>${msg`Memories`}</a>
      ${loadedView(this.insights, msg`the insights`, (insights) => this.insightsView(insights))}
    </dg-page>`
  }

  private insightsView(insights: MemoryInsights): TemplateResult {
    const { since } = insights.deduplication
    return html`
      <h2 class="heading">${msg`Memories`}</h2>
      ${figuresView(storeFigures(insights))}
      ${
        kindFigures(insights).length === 0
          ? nothing
          : html`<h2 class="heading">${msg`By kind`}</h2>
              ${figuresView(kindFigures(insights))}`
      }
      <h2 class="heading" title=${fullTimeText(since)}>
        ${msg`Candidates since Delegate started ${relativeText(since)}`}
      </h2>
      ${figuresView(deduplicationFigures(insights))}
      <h2 class="heading">${msg`Learning`}</h2>
      <p class="note">${learningText(insights)}</p>
      <h2 class="heading">${msg`Recall since Delegate started`}</h2>
      ${figuresView(recallFigures(insights))}
      <h2 class="heading">${msg`Recent events`}</h2>
      ${this.eventsView(insights)}
    `
  }

  private eventsView({ recentEvents }: MemoryInsights): TemplateResult {
    if (recentEvents.length === 0) {
      return html`<dg-state icon="brain" heading=${msg`Nothing yet`}>
        <p>${msg`What Delegate learns, merges, forgets and recalls appears here.`}</p>
      </dg-state>`
    }
    return html`<ul class="list cards events" aria-label=${msg`Recent events`}>
      ${recentEvents.map(timelineEvent).map(
        (event) => html`<li>
          <div class="what">
            <p>${titleOf(event)}</p>
            ${wordsView(event)}
            <p class="facts"><span title=${fullTimeText(event.at)}>${relativeText(event.at)}</span></p>
          </div>
          ${this.undoView(event)}
          <a href="/?seq=${event.seq}" aria-label=${msg`${titleOf(event)}: show on the timeline`}>${msg`Show`}</a>
        </li>`,
      )}
    </ul>`
  }

  /** An undo button for events that replaced or retired a memory. */
  private undoView(event: TimelineEvent): TemplateResult | typeof nothing {
    const id = replacedIn(event)
    if (id === null || typeof event.payload.text !== 'string') return nothing
    const restore = async (): Promise<void> => {
      await this.app.http.post('/api/memories/{id}/restore', { params: { id } })
      this.app.toast(msg`Memory restored`)
      await this.insights.reload()
    }
    return html`<button
      class="button quiet small"
      aria-label=${msg`Undo: restore ${event.payload.text}`}
      @click=${() => void this.app.attempt(restore)}
    >
      ${msg`Undo`}
    </button>`
  }
}

/** A recent event in the form that the timeline's words are made for. */
function timelineEvent(event: MemoryInsights['recentEvents'][number]): TimelineEvent {
  return { ...event, id: '', actor: '', channel: null, spanId: null, turnId: null, internal: true }
}

/** The memory that an event replaced or retired; null for other events. */
function replacedIn({ type, payload }: TimelineEvent): string | null {
  const id = type === 'memory.merged' ? payload.mergedId : payload.memoryId
  const isEnd = type === 'memory.merged' || type === 'memory.overridden' || type === 'memory.retired'
  return isEnd && typeof id === 'string' ? id : null
}

/** The text of a replaced memory, which the event's title omits. */
function wordsView(event: TimelineEvent): TemplateResult | typeof nothing {
  const { text } = event.payload
  return replacedIn(event) !== null && typeof text === 'string' ? html`<p>“${text}”</p>` : nothing
}

function figuresView(figures: readonly MemoryFigure[]): TemplateResult {
  return html`<dl>
    ${figures.map(
      ({ name, value, meaning, tone, link }) => html`<div class=${tone ?? (value === '0' ? 'none' : '')}>
        <dt>${name}</dt>
        <dd class="value">${value}</dd>
        ${
          meaning === ''
            ? nothing
            : html`<dd class="meaning soft">
                ${tone === 'bad' ? html`<dg-icon name="warning"></dg-icon>` : nothing}
                ${meaning}${link ? html`. <a href=${link.path}>${link.label}</a>` : nothing}
              </dd>`
        }
      </div>`,
    )}
  </dl>`
}

function learningText({ runtime }: MemoryInsights): string {
  const { method, running, unread, lastFailure } = runtime.extraction
  const by =
    method === 'model'
      ? msg`After each reply, the utility model looks for memories in your message, and code checks its findings.`
      : msg`After each reply, rules look for plain statements in your message. A language model finds more.`
  const waiting =
    unread === 0
      ? msg`No messages are waiting.`
      : `${plural(unread, msg`message`, msg`messages`)} ${running ? msg`in progress` : msg`waiting`}.`
  if (lastFailure === null) return `${by} ${waiting}`
  const again = lastFailure.final
    ? msg`rules were applied to those messages instead`
    : lastFailure.retryAt === null
      ? ''
      : msg`next retry ${relativeText(lastFailure.retryAt)}`
  return msg`${by} ${waiting} Learning last failed ${relativeText(lastFailure.at)} (${wordsText(lastFailure.kind)})${again === '' ? '' : `; ${again}`}.`
}
