import { html, LitElement, nothing, type PropertyValues } from 'lit'
import type { App } from '../app/app.ts'
import { copyText } from '../app/platform.ts'
import { isModKey, modName } from '../app/shortcuts.ts'
import type { ChatSession } from '../chat/session.ts'
import { endConversation } from '../data/conversations.ts'
import { explain } from '../data/http.ts'
import {
  eraseEvent,
  eraseSpan,
  fetchPage,
  fetchSpanEvents,
  type SearchHit,
  type TimelineEvent,
} from '../data/timeline.ts'
import { fetchTurnMemories } from '../data/turns.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'
import '../design/menu.ts'
import type { MenuItem } from '../design/menu.ts'
import '../design/state.ts'
import { wordsOf } from '../timeline/event-kinds.ts'
import type { Segment } from '../timeline/tree.ts'
import '../view/composer.ts'
import '../view/confirm-dialog.ts'
import type { Confirmation } from '../view/confirm-dialog.ts'
import '../view/connection-view.ts'
import { createMarkdown } from '../view/markdown.ts'
import '../view/moment-dialog.ts'
import type { TimelineActions } from '../view/row-context.ts'
import '../view/search-dialog.ts'
import '../view/timeline-view.ts'
import { timelinePageStyles } from './timeline-page-styles.ts'
import { emptyView, loadingView } from './timeline-states.ts'

/** A hit nearer than this many events is reached by loading the pages in between; one further away by itself. */
const reachableEvents = 20_000
const reachPageSize = 2000

/** The home page: one timeline over all channels, and where the owner writes. */
export class DgTimelinePage extends LitElement {
  static override readonly properties = {
    app: { attribute: false },
    atEnd: { state: true },
    searching: { state: true },
    reaching: { state: true },
    confirmation: { state: true },
    moment: { state: true },
    loadingSpans: { state: true },
  }
  static override readonly styles = [controls, timelinePageStyles]
  declare app: App
  declare private atEnd: boolean
  declare private searching: boolean
  /** The way to a search hit: pages are being loaded. */
  declare private reaching: boolean
  declare private confirmation: Confirmation | null
  declare private moment: { readonly hit: SearchHit; readonly events: readonly TimelineEvent[] } | null
  declare private loadingSpans: ReadonlySet<string>
  private session: ChatSession | null = null
  private ends: (() => void)[] = []
  private reach: AbortController | null = null
  private readonly markdown = createMarkdown()

  constructor() {
    super()
    this.atEnd = true
    this.searching = false
    this.reaching = false
    this.confirmation = null
    this.moment = null
    this.loadingSpans = new Set()
  }

  override connectedCallback(): void {
    super.connectedCallback()
    const session = this.app.chat()
    this.session = session
    const wake = () => {
      if (document.visibilityState === 'visible') session.retryNow()
    }
    const online = () => session.restart()
    addEventListener('keydown', this.keyPressed)
    addEventListener('online', online)
    document.addEventListener('visibilitychange', wake)
    this.ends = [
      session.subscribe(() => this.requestUpdate()),
      () => removeEventListener('keydown', this.keyPressed),
      () => removeEventListener('online', online),
      () => document.removeEventListener('visibilitychange', wake),
    ]
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    for (const end of this.ends) end()
    this.reach?.abort()
  }

  protected override firstUpdated(_changed: PropertyValues): void {
    // On a phone the keyboard would cover the timeline.
    if (matchMedia('(hover: hover)').matches) void this.focusComposer()
  }

  private async focusComposer(): Promise<void> {
    const composer = this.renderRoot.querySelector('dg-composer')
    await composer?.updateComplete
    composer?.focus()
  }

  private timeline() {
    return this.renderRoot.querySelector('dg-timeline')
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return
    if (isModKey(event, 'k')) {
      event.preventDefault()
      this.searching = true
      return
    }
    const focused = event.composedPath()[0]
    if (event.key === 'Escape' && !this.renderRoot.querySelector('dg-composer:focus-within')) {
      if (!this.searching && !this.confirmation && !this.moment) void this.focusComposer()
    }
    if (event.key === 'ArrowUp' && focused instanceof HTMLTextAreaElement && focused.value === '') {
      event.preventDefault()
      this.timeline()?.focusLast()
    }
  }

  private readonly actions: TimelineActions = {
    copy: (text) => void this.copy(text),
    showAll: (event) => void this.showAll(event),
    eraseEvent: (event) =>
      this.confirm(
        'Erase this message?',
        'Its words are gone for good, and so is everything that was learned or copied from them. That it was said stays on the timeline.',
        () => eraseEvent(this.app.http, event.seq),
      ),
    eraseSpan: (segment) => this.confirmEraseSpan(segment),
    retry: (id) => this.session?.retry(id),
    discard: (id) => this.session?.discard(id),
    resend: (failed) => this.resend(failed),
    loadMemories: (turnId) => fetchTurnMemories(this.app.http, turnId),
  }

  private confirmEraseSpan({ spanId }: Segment): void {
    if (spanId === null) return
    this.confirm(
      'Erase this whole exchange?',
      'Every message in it is gone for good, and so is everything that was learned or copied from them. That it took place stays on the timeline.',
      () => eraseSpan(this.app.http, spanId),
    )
  }

  private confirm(heading: string, text: string, erase: () => Promise<void>): void {
    this.confirmation = {
      heading,
      text,
      action: 'Erase',
      run: async () => {
        await erase()
        this.app.toast('Erased')
      },
    }
  }

  private async copy(text: string): Promise<void> {
    if (await copyText(text)) this.app.toast('Copied')
    else this.app.toast('This browser did not allow copying.', 'warning')
  }

  private async showAll({ spanId }: TimelineEvent): Promise<void> {
    if (spanId === null) return
    this.loadingSpans = new Set([...this.loadingSpans, spanId])
    try {
      this.session?.addEvents(await fetchSpanEvents(this.app.http, spanId))
    } catch (error) {
      this.app.toast(explain(error), 'warning')
    } finally {
      this.loadingSpans = new Set([...this.loadingSpans].filter((id) => id !== spanId))
    }
  }

  private resend({ turnId }: TimelineEvent): void {
    const entries = this.session?.segments.flatMap((segment) => segment.entries) ?? []
    const asked = entries.find(
      (entry) => entry.kind === 'message' && entry.role === 'owner' && entry.event.turnId === turnId,
    )
    if (asked?.kind === 'message') this.send(wordsOf(asked.event))
  }

  private send(text: string): void {
    this.session?.send(text)
    this.timeline()?.scrollToEnd()
  }

  private async end(): Promise<void> {
    const id = this.session?.conversationId
    if (!id) {
      this.app.toast('No conversation is open.')
      return
    }
    try {
      await endConversation(this.app.http, id)
      this.app.toast('Conversation ended. The next message starts a new one.')
    } catch (error) {
      this.app.toast(explain(error), 'warning')
    }
  }

  private async goTo(hit: SearchHit): Promise<void> {
    const { session } = this
    if (!session) return
    this.reach?.abort()
    const reach = new AbortController()
    this.reach = reach
    this.reaching = true
    try {
      const distance = session.oldestSeq - hit.seq
      while (distance < reachableEvents && !session.event(hit.seq)) {
        const before = session.cursor()
        if (before === null) break
        const page = await fetchPage(this.app.http, { before, limit: reachPageSize, signal: reach.signal })
        if (session.cursor() === before) session.addOlderPage(page)
      }
      await this.updateComplete
      if (session.event(hit.seq) && (await this.timeline()?.reveal(hit.seq))) return
      if (hit.spanId === null) this.app.toast('That entry is not shown on the timeline.', 'warning')
      else this.moment = { hit, events: await fetchSpanEvents(this.app.http, hit.spanId) }
    } catch (error) {
      if (!reach.signal.aborted) this.app.toast(explain(error), 'warning')
    } finally {
      if (this.reach === reach) this.reaching = false
    }
  }

  private menuItems(): MenuItem[] {
    return [
      {
        label: 'End conversation',
        icon: 'done',
        run: () => void this.end(),
      },
    ]
  }

  override render() {
    const { session } = this
    if (!session) return nothing
    return html`
      <header class="bar">
        <button
          class="button quiet icon drawer"
          aria-label="Open the navigation"
          @click=${() => this.dispatchEvent(new Event('open-navigation'))}
        >
          <dg-icon name="menu"></dg-icon>
        </button>
        <h1>Timeline</h1>
        <dg-connection .connection=${session.connection} @retry=${() => session.retryNow()}></dg-connection>
        <button class="button search" @click=${() => (this.searching = true)}>
          <dg-icon name="search"></dg-icon><span>Search</span><kbd>${modName} K</kbd>
        </button>
        <dg-menu label="More" .items=${this.menuItems()}></dg-menu>
      </header>
      <div class="content">${this.contentView(session)}</div>
      <dg-composer
        .working=${session.working}
        @send=${(event: CustomEvent<string>) => this.send(event.detail)}
        @stop=${() => session.stop()}
      ></dg-composer>
      <dg-search-dialog
        .http=${this.app.http}
        .open=${this.searching}
        @close=${() => (this.searching = false)}
        @hit=${(event: CustomEvent<SearchHit>) => {
          this.searching = false
          void this.goTo(event.detail)
        }}
      ></dg-search-dialog>
      <dg-confirm-dialog
        .confirmation=${this.confirmation}
        @close=${() => (this.confirmation = null)}
      ></dg-confirm-dialog>
      <dg-moment-dialog
        .moment=${this.moment}
        .actions=${this.actions}
        .markdown=${this.markdown}
        @close=${() => (this.moment = null)}
      ></dg-moment-dialog>
    `
  }

  private contentView(session: ChatSession) {
    if (!session.loaded) return loadingView(session.connection, () => session.retryNow())
    const empty =
      session.older === 'none' &&
      session.pending.length === 0 &&
      session.drafts.length === 0 &&
      !session.segments.some((segment) => segment.entries.some((entry) => entry.kind === 'message'))
    if (empty) return emptyView((text) => this.send(text))
    return html`
      <dg-timeline
        .segments=${session.segments}
        .drafts=${session.drafts}
        .pending=${session.pending}
        .older=${session.older}
        .actions=${this.actions}
        .markdown=${this.markdown}
        .loadingSpans=${this.loadingSpans}
        @older=${() => session.loadOlder()}
        @moved=${(event: CustomEvent<{ atEnd: boolean }>) => (this.atEnd = event.detail.atEnd)}
      ></dg-timeline>
      ${
        this.atEnd
          ? nothing
          : html`<button
              class="button icon to-end"
              aria-label="To the newest entry"
              title="To the newest entry"
              @click=${() => this.timeline()?.scrollToEnd()}
            >
              <dg-icon name="arrow-down"></dg-icon>
            </button>`
      }
      ${
        this.reaching
          ? html`<div class="reaching" role="status">
              <span>Going back to that moment…</span>
              <button class="button quiet small" @click=${() => this.reach?.abort()}>Cancel</button>
            </div>`
          : nothing
      }
    `
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'dg-composer': import('../view/composer.ts').DgComposer
    'dg-timeline': import('../view/timeline-view.ts').DgTimeline
  }
}

customElements.define('dg-timeline-page', DgTimelinePage)
