import { css, html, LitElement, nothing, type TemplateResult } from 'lit'
import type { App } from '../app/app.ts'
import { explain } from '../data/http.ts'
import { restoreMemory } from '../data/memories.ts'
import { fetchMemoryInsights, type MemoryInsights } from '../data/memory-insights.ts'
import type { TimelineEvent } from '../data/timeline.ts'
import { cards } from '../design/cards.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'
import '../design/page.ts'
import '../design/state.ts'
import { titleOf } from '../timeline/titles.ts'
import { fullTimeText, plural, wordsText } from '../view/format.ts'
import {
  deduplicationFigures,
  isUnderWay,
  kindFigures,
  type MemoryFigure,
  recallFigures,
  storeFigures,
} from '../view/memory-figures.ts'
import { relativeText } from '../view/relative-time.ts'

/** A turn may change several things: they are one reason to look again. */
const settleMs = 500

/** Vectors are made without a fact that would tell: until they are, the page looks again by itself. */
const progressMs = 2_000
const retryMs = 5_000

/** How memory is doing: what there is, what became of what was heard, what runs, what happened last. */
export class DgMemoryInsightsPage extends LitElement {
  static override readonly properties = {
    app: { attribute: false },
    insights: { state: true },
    problem: { state: true },
  }
  static override readonly styles = [
    controls,
    cards,
    css`
      dl {
        margin: 0;
        border: 1px solid var(--line);
        border-radius: var(--radius-md);
        background: var(--surface);
      }
      /* What it counts at the left, how many at the right, on one line of sight. */
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
      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }
      dd.meaning {
        grid-column: 1;
        color: var(--ink-soft);
        font-size: var(--text-sm);
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
    `,
  ]
  declare app: App
  declare private insights: MemoryInsights | null
  declare private problem: string
  private timer: ReturnType<typeof setTimeout> | undefined
  private running: AbortController | null = null
  private unfollow: () => void = () => undefined

  constructor() {
    super()
    this.insights = null
    this.problem = ''
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.unfollow = this.app.chat().follow(({ type }) => {
      if (type === 'erased' || type.startsWith('memory.')) this.loadSoon(settleMs)
    })
    void this.load()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.unfollow()
    this.running?.abort()
    clearTimeout(this.timer)
  }

  private loadSoon(afterMs: number): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.load(), afterMs)
  }

  private async load(): Promise<void> {
    this.running?.abort()
    const running = new AbortController()
    this.running = running
    try {
      this.insights = await fetchMemoryInsights(this.app.http, running.signal)
      this.problem = ''
    } catch (error) {
      if (running.signal.aborted) return
      this.problem = explain(error)
    }
    const embedding = this.insights?.embedding
    if (embedding?.state === 'waiting') this.loadSoon(retryMs)
    else if (embedding && isUnderWay(embedding)) this.loadSoon(progressMs)
  }

  override render() {
    return html`<dg-page heading="Memory Insights">
      <a class="back" href="/memories"><dg-icon name="chevron"></dg-icon>Memories</a>
      ${this.contentView()}
    </dg-page>`
  }

  private contentView(): TemplateResult {
    const { insights, problem } = this
    if (insights === null && problem !== '') {
      return html`<dg-state icon="offline" heading="The insights cannot be shown" role="alert">
        <p>${problem}</p>
        <button class="button" @click=${() => void this.load()}>Try again</button>
      </dg-state>`
    }
    if (insights === null) {
      return html`<div role="status" aria-label="Loading the insights">
        <div class="waiting"></div>
        <div class="waiting"></div>
        <div class="waiting"></div>
      </div>`
    }
    const now = new Date()
    const { since } = insights.deduplication
    return html`
      ${problem === '' ? nothing : html`<p role="alert">What follows may be out of date. ${problem}</p>`}
      <h2 class="heading">What is remembered</h2>
      ${figuresView(storeFigures(insights))}
      ${
        insights.store.kinds.length === 0
          ? nothing
          : html`<h2 class="heading">By kind</h2>
              ${figuresView(kindFigures(insights))}`
      }
      <h2 class="heading" title=${fullTimeText(since)}>
        What became of what was heard, since the start ${relativeText(since, now)}
      </h2>
      ${figuresView(deduplicationFigures(insights))}
      <h2 class="heading">How it is learned</h2>
      <p class="note">${learningText(insights, now)}</p>
      <h2 class="heading">Recall, since the start</h2>
      ${figuresView(recallFigures(insights, now))}
      <h2 class="heading">What happened last</h2>
      ${this.eventsView(insights, now)}
    `
  }

  private eventsView({ recentEvents }: MemoryInsights, now: Date): TemplateResult {
    if (recentEvents.length === 0) {
      return html`<dg-state icon="brain" heading="Nothing yet">
        <p>What Delegate learns, merges, forgets and recalls shows here.</p>
      </dg-state>`
    }
    return html`<ul class="cards events" aria-label="What happened last">
      ${recentEvents.map(
        (event) => html`<li>
          <div class="what">
            <p>${titleOf(event)}</p>
            ${wordsView(event)}
            <p class="facts"><span title=${fullTimeText(event.at)}>${relativeText(event.at, now)}</span></p>
          </div>
          ${this.undoView(event)}
          <a href="/?seq=${event.seq}" aria-label="${titleOf(event)}: show on the timeline">Show</a>
        </li>`,
      )}
    </ul>`
  }

  /** What was replaced or given up can be had back. */
  private undoView(event: TimelineEvent): TemplateResult | typeof nothing {
    const id = replacedIn(event)
    if (id === null || typeof event.payload.text !== 'string') return nothing
    const restore = async (): Promise<void> => {
      try {
        await restoreMemory(this.app.http, id)
        this.app.toast('It holds again')
        await this.load()
      } catch (error) {
        this.app.toast(explain(error), 'warning')
      }
    }
    return html`<button
      class="button quiet small"
      aria-label="Undo: ${event.payload.text} holds again"
      @click=${() => void restore()}
    >
      Undo
    </button>`
  }
}

/** The memory that no longer holds since an event; null for events of other kinds. */
function replacedIn({ type, payload }: TimelineEvent): string | null {
  const id = type === 'memory.merged' ? payload.mergedId : payload.memoryId
  const isEnd = type === 'memory.merged' || type === 'memory.overridden' || type === 'memory.retired'
  return isEnd && typeof id === 'string' ? id : null
}

/** The words that are no more than named in the title. */
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
            : html`<dd class="meaning">
                ${tone === 'bad' ? html`<dg-icon name="warning"></dg-icon>` : nothing}
                ${meaning}${link ? html`. <a href=${link.path}>${link.label}</a>` : nothing}
              </dd>`
        }
      </div>`,
    )}
  </dl>`
}

function learningText({ extraction }: MemoryInsights, now: Date): string {
  const { method, running, unread, lastFailure } = extraction
  const by =
    method === 'model'
      ? 'The utility model reads what you say once it is answered, and what it finds is checked in code.'
      : 'Rules read what you say once it is answered: plain statements. With a language model more is understood.'
  const waiting =
    unread === 0
      ? 'Nothing waits to be read.'
      : `${plural(unread, 'message')} ${unread === 1 ? 'waits' : 'wait'} to be read${running ? '; it is being done' : ''}.`
  if (lastFailure === null) return `${by} ${waiting}`
  const again = lastFailure.final
    ? 'those messages were read by rules instead'
    : lastFailure.retryAt === null
      ? ''
      : `it is tried again ${relativeText(lastFailure.retryAt, now)}`
  return `${by} ${waiting} It last failed ${relativeText(lastFailure.at, now)} (${wordsText(lastFailure.kind)})${again === '' ? '' : `; ${again}`}.`
}

customElements.define('dg-memory-insights-page', DgMemoryInsightsPage)
