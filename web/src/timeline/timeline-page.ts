import { html, nothing } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { SearchHit } from '../../../src/http/contract/timeline.ts'
import { explain } from '../api/http.ts'
import { AppElement } from '../app/app-element.ts'
import { isSearchKey, modName } from '../app/shortcuts.ts'
import { iconButton } from '../design/icon-button.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import { barStyles, drawerButton } from '../design/page.ts'
import type { ChatSession } from './chat/session.ts'
import './call-bar.ts'
import './composer.ts'
import type { DgComposer } from './composer.ts'
import './context-meter.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { askToErase } from '../app/erase-dialog.ts'
import { createMarkdown } from '../design/markdown.ts'
import { snoozeItems } from '../timers/snooze-dialog.ts'
import { DgMomentDialog } from './moment-dialog.ts'
import type { Draft } from './pasted.ts'
import { DgSearchDialog } from './search-dialog.ts'
import { DgWhyDialog } from './why-dialog.ts'
import './timeline-view.ts'
import { createTimelineActions, type TimelineActions } from './timeline-actions.ts'
import { timelinePageStyles } from './timeline-page-styles.ts'
import { connectionView, emptyView, isWorthShowing, loadingView } from './timeline-states.ts'
import type { DgTimeline } from './timeline-view.ts'

/** To show a hit nearer than this, load the pages in between. Show one further away in a dialog. */
const reachableEvents = 20_000
const reachPageSize = 2000

/** The home page: the timeline of all channels and the message field. */
@customElement('dg-timeline-page')
export class DgTimelinePage extends AppElement {
  static override readonly styles = [barStyles, timelinePageStyles]
  @state() private atEnd = true
  /** True while pages are loaded to reach a search hit. */
  @state() private reaching = false
  private session!: ChatSession
  private actions!: TimelineActions
  private readonly markdown = createMarkdown((code) => this.actions.copy(code))
  private reach: AbortController | null = null
  /** Kept, with its query and filters. */
  private readonly searchDialog = Object.assign(new DgSearchDialog(), {
    onHit: (hit: SearchHit) => {
      // Back leaves the hit, not the timeline.
      history.pushState(null, '', '/')
      this.keepLink(`/?seq=${hit.seq}`)
      void this.goTo(hit)
    },
  })
  /** The link to a moment that was followed last. It stays in the address, so that a reload follows it again. */
  private followed = ''

  protected override connected(signal: AbortSignal): void {
    const session = this.app.chat()
    const changed = () => {
      this.requestUpdate()
      this.followLink()
    }
    this.session = session
    this.actions = createTimelineActions({
      app: this.app,
      session,
      erase: (erasing) => askToErase(this, erasing),
      confirm: (confirmation) => askToConfirm(this, confirmation),
      say: (draft) => this.say(draft),
      edit: (draft) => this.composer()?.edit(draft),
      explainTurn: (turnId) => Object.assign(new DgWhyDialog(), { turnId }).openIn(this),
      snoozeItems: (reminder) => snoozeItems(this, reminder),
    })
    signal.addEventListener('abort', session.subscribe(changed))
    addEventListener('keydown', this.keyPressed, { signal })
    const moved = () => {
      this.followed = ''
      this.followLink()
    }
    addEventListener('navigated', moved, { signal })
    const wentBack = () => {
      moved()
      if (askedSeq() !== null) return
      this.renderRoot.querySelector<DgMomentDialog>('dg-moment-dialog')?.close()
      this.timeline()?.scrollToEnd()
    }
    addEventListener('popstate', wentBack, { signal })
    signal.addEventListener('abort', () => this.reach?.abort())
  }

  protected override firstUpdated(): void {
    const isAtMoment = askedSeq() !== null
    this.followLink()
    if (!isAtMoment) void this.composer()?.focusAtDesk()
  }

  /** Moves the focus too, because the pressed button disappears at the end. */
  private goToEnd(): void {
    this.keepLink('/')
    this.timeline()?.scrollToEnd()
    void this.composer()?.focusAtDesk()
  }

  private composer() {
    return this.renderRoot.querySelector<DgComposer>('dg-composer')
  }

  private timeline() {
    return this.renderRoot.querySelector<DgTimeline>('dg-timeline')
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return
    if (isSearchKey(event)) {
      event.preventDefault()
      this.searchDialog.openIn(this)
      return
    }
    const focused = event.composedPath()[0]
    const isWriting = focused instanceof HTMLTextAreaElement
    const isInDialog = event.composedPath().some((node) => node instanceof HTMLDialogElement)
    if (event.key === 'Escape' && !isWriting && !isInDialog) this.composer()?.focus()
    if (event.key === 'ArrowUp' && isWriting && focused.value === '') {
      event.preventDefault()
      const isModified = event.ctrlKey || event.metaKey
      if (this.session.lastMessage && !isModified) this.actions.edit()
      else this.timeline()?.focusLast()
    }
  }

  private say(draft: Draft): void {
    this.keepLink('/')
    this.session.outbox.add(draft)
    this.timeline()?.scrollToEnd()
  }

  /** Shows a search hit, on the timeline if it can be reached, else in a dialog. */
  private async goTo({ seq, spanId }: { seq: number; spanId: string | null }): Promise<void> {
    this.reach?.abort()
    const reach = new AbortController()
    this.reach = reach
    this.reaching = true
    try {
      await this.loadBackTo(seq, reach.signal)
      await this.updateComplete
      if (await this.timeline()?.reveal(seq)) return
      const span = spanId ?? (await this.findSpan(seq, reach.signal))
      if (span === null) {
        this.app.toast(msg`That entry is not shown on the timeline.`, 'warning')
        return
      }
      const { events } = await this.app.http.get('/api/timeline/spans/{id}', { params: { id: span } })
      const at = events.find((event) => event.seq === seq)?.at ?? ''
      const { actions, markdown } = this
      if (this.reach === reach)
        Object.assign(new DgMomentDialog(), { seq, at, events, actions, markdown }).openIn(this)
    } catch (error) {
      if (!reach.signal.aborted) this.app.toast(explain(error), 'warning')
    } finally {
      if (this.reach === reach) this.reaching = false
    }
  }

  private pageBefore(before: string, signal: AbortSignal) {
    return this.app.http.get('/api/timeline', { query: { before, limit: reachPageSize }, signal })
  }

  private async loadBackTo(seq: number, signal: AbortSignal): Promise<void> {
    const { session } = this
    if (session.wholeFromSeq - seq > reachableEvents) return
    while (session.wholeFromSeq > seq) {
      const before = session.cursor
      if (before === null) return
      const page = await this.pageBefore(before, signal)
      // Scrolling may have loaded the same page meanwhile.
      if (session.cursor === before) session.addOlderPage(page)
    }
  }

  /** Finds the span of an event too far back to reach. Does not keep the pages that it reads. */
  private async findSpan(seq: number, signal: AbortSignal): Promise<string | null> {
    let before = this.session.cursor
    while (before !== null) {
      const page = await this.pageBefore(before, signal)
      const found = page.events.find((event) => event.seq === seq)
      if (found) return found.spanId
      before = (page.events[0]?.seq ?? 0) > seq ? page.nextCursor : null
    }
    return null
  }

  /**
   * Follows a link to an event (`/?seq=123`) or to the search (`/?search=words`), once, as soon as the timeline is
   * loaded.
   */
  private followLink(): void {
    const words = new URLSearchParams(location.search).get('search')
    if (words !== null) {
      history.replaceState(null, '', '/')
      this.searchDialog.openIn(this)
      if (words !== '') this.searchDialog.find(words)
      return
    }
    const seq = askedSeq()
    if (!this.session.loaded || seq === null || location.search === this.followed) return
    this.followed = location.search
    void this.goTo({ seq, spanId: null })
  }

  /** Puts the moment in view into the address, without following it; `/` for none. */
  private keepLink(path: string): void {
    history.replaceState(null, '', path)
    this.followed = location.search
  }

  private menuItems(): MenuItem[] {
    const erase = () => askToErase(this, { heading: msg`Erase a period`, target: 'period' })
    return [
      { label: msg`End conversation`, icon: 'done', run: () => void this.actions.endConversation() },
      { label: msg`Erase a period…`, icon: 'period', danger: true, run: erase },
    ]
  }

  override render() {
    const { session } = this
    return html`
      <div>
        <header class="bar beside">
          ${drawerButton(this)}
          <h1>${msg`Timeline`}</h1>
          ${isShown(session) ? connectionView(session.connection, () => session.retryNow()) : nothing}
          <dg-context-meter .app=${this.app}></dg-context-meter>
          <button class="button search" @click=${() => this.searchDialog.openIn(this)}>
            <dg-icon name="search"></dg-icon><span>${msg`Search`}</span><kbd>${modName} ⇧ F</kbd>
          </button>
          <dg-menu label=${msg`More`} .items=${this.menuItems()}></dg-menu>
        </header>
        <dg-call-bar .app=${this.app} .call=${foreignCall(session)}></dg-call-bar>
      </div>
      <div class="content">${this.contentView(session)}</div>
      <dg-composer
        .app=${this.app}
        .working=${session.working}
        @send=${(event: CustomEvent<Draft>) => this.say(event.detail)}
        @stop=${() => session.stop()}
      ></dg-composer>
    `
  }

  private contentView(session: ChatSession) {
    if (!isShown(session)) return loadingView(session.connection, () => session.retryNow())
    const isEmpty =
      session.older === 'none' &&
      session.outbox.pending.length === 0 &&
      session.previews.length === 0 &&
      session.live.lines.length === 0 &&
      !session.segments.some(({ entries }) => entries.some(isWorthShowing))
    if (isEmpty) return emptyView(this.app, (text) => this.say({ text, pasted: [] }))
    return html`
      <dg-timeline
        .segments=${session.segments}
        .talk=${session.live.lines}
        .callParty=${session.live.call?.party ?? 'guest'}
        .previews=${session.previews}
        .pending=${session.outbox.pending}
        .older=${session.older}
        .actions=${this.actions}
        .markdown=${this.markdown}
        @older=${() => session.loadOlder()}
        @moved=${(event: CustomEvent<{ atEnd: boolean }>) => (this.atEnd = event.detail.atEnd)}
      ></dg-timeline>
      ${this.atEnd ? nothing : this.toEndView()} ${this.reaching ? this.reachingView() : nothing}
    `
  }

  private toEndView() {
    const label = msg`Go to the newest entry`
    return iconButton('arrow-down', label, () => this.goToEnd(), 'round to-end', label)
  }

  private reachingView() {
    return html`<div class="pill beside reaching" role="status">
      <span>${msg`Loading older entries…`}</span>
      <button class="button quiet small" @click=${() => this.reach?.abort()}>${msg`Cancel`}</button>
    </div>`
  }
}

/** Shows waiting messages even before the timeline is loaded, so that they do not look lost. */
const isShown = ({ loaded, outbox }: ChatSession) => loaded || outbox.pending.length > 0

/** The call in progress, unless it is the talk of this tab. */
function foreignCall({ live: { call, ownSid } }: ChatSession) {
  return call?.callSid === ownSid ? null : call
}

/** The event that the address links to, as `seq` or `at`; null if it links to none. */
function askedSeq(): number | null {
  const asked = new URLSearchParams(location.search)
  const seq = Number(asked.get('seq') ?? asked.get('at'))
  return Number.isInteger(seq) && seq > 0 ? seq : null
}
