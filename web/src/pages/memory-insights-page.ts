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
import { capitalised, countText, durationText, fullTimeText, plural, wordsText } from '../view/format.ts'
import { relativeText } from '../view/relative-time.ts'

/** A turn may change several things: they are one reason to look again. */
const settleMs = 500

type Figure = { readonly name: string; readonly value: string; readonly meaning: string }

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
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr));
        gap: var(--space-2);
        margin: 0;
      }
      dl > div {
        padding: var(--space-3) var(--space-4);
        border: 1px solid var(--line);
        border-radius: var(--radius-md);
        background: var(--surface);
      }
      dt,
      dd.meaning {
        color: var(--ink-soft);
        font-size: var(--text-sm);
      }
      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }
      dd.value {
        font-size: var(--text-lg);
        font-weight: 600;
        font-variant-numeric: tabular-nums;
      }
      .events a {
        flex: none;
        font-size: var(--text-sm);
      }
      .note {
        margin-bottom: var(--space-3);
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
      if (type === 'erased' || type.startsWith('memory.')) this.loadSoon()
    })
    void this.load()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.unfollow()
    this.running?.abort()
    clearTimeout(this.timer)
  }

  private loadSoon(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.load(), settleMs)
  }

  private async load(): Promise<void> {
    this.running?.abort()
    const running = new AbortController()
    this.running = running
    try {
      this.insights = await fetchMemoryInsights(this.app.http, running.signal)
      this.problem = ''
    } catch (error) {
      if (!running.signal.aborted) this.problem = explain(error)
    }
  }

  override render() {
    return html`<dg-page heading="Memory Insights">
      <a slot="tools" class="button small" href="/memories">Memories</a>
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
              ${figuresView(
                insights.store.kinds.map(({ kind, count }) => ({
                  name: capitalised(wordsText(kind)),
                  value: countText(count),
                  meaning: '',
                })),
              )}`
      }
      <h2 class="heading" title=${fullTimeText(since)}>
        What became of what was heard, since the start ${relativeText(since, now)}
      </h2>
      ${figuresView(deduplicationFigures(insights))}
      <h2 class="heading">How it is learned</h2>
      <p class="note">${learningText(insights, now)}</p>
      <h2 class="heading">Recall, since the start</h2>
      ${figuresView(recallFigures(insights))}
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

function figuresView(figures: readonly Figure[]): TemplateResult {
  return html`<dl>
    ${figures.map(
      ({ name, value, meaning }) => html`<div>
        <dt>${name}</dt>
        <dd class="value">${value}</dd>
        ${meaning === '' ? nothing : html`<dd class="meaning">${meaning}</dd>`}
      </div>`,
    )}
  </dl>`
}

function storeFigures({ store }: MemoryInsights): Figure[] {
  return [
    { name: 'In mind', value: countText(store.total), meaning: 'May surface when they matter' },
    {
      name: 'Contested',
      value: countText(store.contested),
      meaning: 'Contradict each other; both are kept until you say which is right',
    },
    {
      name: 'Superseded',
      value: countText(store.superseded),
      meaning: 'Something newer holds in their place',
    },
    { name: 'Retired', value: countText(store.retired), meaning: 'Over, or taken back' },
    { name: 'Forgotten', value: countText(store.forgotten), meaning: 'Their words are erased' },
  ]
}

function deduplicationFigures({ deduplication: counts }: MemoryInsights): Figure[] {
  return [
    { name: 'Candidates', value: countText(counts.candidates), meaning: 'Statements that were considered' },
    { name: 'New', value: countText(counts.inserted), meaning: 'Kept as something not known before' },
    { name: 'Reinforced', value: countText(counts.reinforced), meaning: 'Known already: made stronger' },
    { name: 'Merged', value: countText(counts.merged), meaning: 'Made a known one more exact' },
    {
      name: 'Discarded',
      value: countText(counts.discarded),
      meaning: 'Not kept: unsure, foreign or doubled',
    },
    { name: 'Held back', value: countText(counts.suppressed), meaning: 'Found, and not given to a reply' },
  ]
}

function recallFigures({ recall, embedding }: MemoryInsights): Figure[] {
  return [
    { name: 'Looked for', value: countText(recall.queries), meaning: '' },
    { name: 'In time', value: countText(recall.inTime), meaning: '' },
    { name: 'Late', value: countText(recall.late), meaning: 'Staged for the next turn' },
    { name: 'Failed', value: countText(recall.failed), meaning: '' },
    {
      name: 'The latest took',
      value: recall.lastDurationMs === null ? '–' : durationText(recall.lastDurationMs),
      meaning: '',
    },
    {
      name: 'By meaning',
      value: embedding === null ? '–' : `${countText(embedding.embedded)} of ${countText(embedding.total)}`,
      meaning: meaningOf(embedding),
    },
  ]
}

function meaningOf(embedding: MemoryInsights['embedding']): string {
  if (embedding === null) return 'No embedding model is configured: recall goes by words'
  if (embedding.state === 'waiting')
    return 'Turns and memories with a vector; the service failed and is tried again'
  return embedding.state === 'embedding'
    ? 'Turns and memories with a vector; more are being made'
    : 'Turns and memories with a vector'
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
