import { html, nothing, type PropertyValues } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { TalkLine } from '../../../src/http/contract/calls.ts'
import { dayText } from '../design/format.ts'
import { createKeyedRows } from '../design/keyed-rows.ts'
import type { RenderMarkdown } from '../design/markdown.ts'
import { msg } from '../design/msg.ts'
import { prose } from '../design/prose.ts'
import { StyledElement } from '../design/styled-element.ts'
import type { Older } from './chat/session.ts'
import { messageStyles } from './message-styles.ts'
import { shownWords } from './message-view.ts'
import type { RowContext } from './row-context.ts'
import { estimateRow, rowView } from './row-view.ts'
import {
  holderOf,
  keysAround,
  type Pending,
  type Preview,
  type Row,
  rowIndexOf,
  timelineRows,
} from './rows.ts'
import type { TimelineActions } from './timeline-actions.ts'
import { timelineStyles } from './timeline-styles.ts'
import type { Segment } from './tree.ts'
import { VirtualScroll } from './virtual-scroll.ts'

/** The older page is requested this close to the top. */
const loadOlderWithinPx = 2000

/**
 * The timeline as a virtual list with folding and keyboard navigation. Fires `older` to request the page
 * before, and `moved` when the end enters or leaves the viewport.
 */
@customElement('dg-timeline')
export class DgTimeline extends StyledElement {
  static override readonly styles = [prose, timelineStyles, messageStyles]

  /** Names it for screen readers, which list it beside that of the page. */
  @property() name = msg`Timeline`
  @property({ attribute: false }) segments: readonly Segment[] = []
  @property({ attribute: false }) talk: readonly TalkLine[] = []
  /** Who the caller is, during a call. */
  @property({ attribute: false }) callParty: 'owner' | 'guest' = 'guest'
  @property({ attribute: false }) previews: readonly Preview[] = []
  @property({ attribute: false }) pending: readonly Pending[] = []
  @property() older: Older = 'unknown'
  @property({ attribute: false }) actions!: TimelineActions
  @property({ attribute: false }) markdown!: RenderMarkdown
  @state() private toggled: ReadonlySet<string> = new Set()
  @state() private activeKey = ''
  @state() private foundKey = ''
  @state() private topDay = ''
  @state() private answers: ReadonlyMap<string, string> = new Map()

  private rows: readonly Row[] = []
  private readonly renderRows = createKeyedRows()
  private atEnd = true
  private readonly virtual = new VirtualScroll<Row>(this, estimateRow)

  protected override willUpdate(changed: PropertyValues): void {
    const inputs = ['segments', 'talk', 'previews', 'pending', 'toggled'] as const
    if (inputs.some((input) => changed.has(input))) {
      const { segments, talk, previews, pending, toggled } = this
      this.rows = timelineRows({ segments, talk, previews, pending, toggled })
    }
    this.virtual.setRows(this.rows)
  }

  protected override update(changed: PropertyValues): void {
    super.update(changed)
    const { start, end } = this.virtual.window
    const context = this.context()
    const activeKey = this.reachableKey()
    const rows = this.rows.slice(start, end).map((row) => {
      const tabindex = row.key === activeKey ? 0 : -1
      return rowView(row, row.key === this.foundKey, { ...context, tabindex })
    })
    const list = this.renderRoot.querySelector('.rows')
    if (list) this.renderRows(list, rows, { host: this })
  }

  protected override updated(): void {
    this.reportEnd()
    this.requestOlder()
  }

  private readonly scrolled = (): void => {
    this.virtual.handleScroll()
    this.reportEnd()
    this.requestOlder()
    const row = this.rows[this.virtual.firstVisibleIndex()]
    const at = row === undefined || row.kind === 'day' ? undefined : row.segment?.at
    this.topDay = at === undefined ? '' : dayText(at)
  }

  private reportEnd(): void {
    const { atEnd } = this.virtual
    if (this.atEnd === atEnd) return
    this.atEnd = atEnd
    this.dispatchEvent(new CustomEvent('moved', { detail: { atEnd: this.atEnd } }))
  }

  private requestOlder(): void {
    const scroller = this.renderRoot.querySelector('.scroller')
    if (this.older === 'more' && scroller && scroller.scrollTop < loadOlderWithinPx) {
      this.dispatchEvent(new Event('older'))
    }
  }

  scrollToEnd(): void {
    this.virtual.scrollToEnd()
  }

  /** Unfolds, scrolls to and focuses the event. False if it is not loaded. */
  async reveal(seq: number): Promise<boolean> {
    const keys = keysAround(this.segments, seq)
    if (keys.length === 0) return false
    this.toggleAll(keys.filter((key) => !this.isOpen(key)))
    this.virtual.stuck = false
    await this.updateComplete
    const row = this.rows[rowIndexOf(this.rows, seq)]
    if (!row) return false
    this.foundKey = row.key
    this.activeKey = row.key
    this.virtual.scrollToRow(row.key)
    await this.updateComplete
    await new Promise((resolve) => requestAnimationFrame(resolve))
    this.focusRow(row.key)
    return true
  }

  /** Focuses the last focusable row. */
  focusLast(): void {
    const row = this.rows.findLast(canFocus)
    if (row) void this.activate(row.key)
  }

  private isOpen(key: string): boolean {
    return this.rows.some(
      (row) =>
        ((row.kind === 'span' && row.segment.key === key) ||
          ((row.kind === 'activity' || row.kind === 'branch') && row.key === key)) &&
        row.open,
    )
  }

  private toggleAll(keys: readonly string[]): void {
    this.toggled = this.toggled.symmetricDifference(new Set(keys))
  }

  private readonly toggle = (key: string): void => {
    this.virtual.stuck = false
    this.toggleAll([key])
    void this.updateComplete.then(() => this.virtual.revealBelow(this.activeKey))
  }

  private readonly toggleAnswer = async (noteId: string): Promise<void> => {
    const isOpen = this.answers.has(noteId)
    const note = isOpen
      ? null
      : await this.actions.app.http.get('/api/notes/{id}', { params: { id: noteId } })
    const answers = new Map(this.answers)
    if (note) answers.set(noteId, note.content)
    else answers.delete(noteId)
    this.virtual.stuck = false
    this.answers = answers
    await this.updateComplete
    if (note) this.virtual.revealBelow(this.activeKey)
    else this.virtual.scrollToRow(this.activeKey)
  }

  /** Scrolls to the heading first, which may be thousands of entries away. */
  private readonly fold = async (segment: Segment): Promise<void> => {
    await this.activate(`span:${segment.key}`)
    if (this.isOpen(segment.key)) this.toggle(segment.key)
  }

  private async activate(key: string): Promise<void> {
    this.activeKey = key
    await this.updateComplete
    if (this.focusRow(key)) return
    this.virtual.scrollToRow(key)
    await this.updateComplete
    this.focusRow(key)
  }

  private focusRow(key: string): boolean {
    const row = this.renderRoot.querySelector(`[data-key="${CSS.escape(key)}"]`)
    const target = row?.querySelector<HTMLElement>('[data-focus]')
    target?.focus()
    return Boolean(target)
  }

  private readonly focused = (event: FocusEvent): void => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-key]') : null
    if (row?.dataset.key !== undefined) this.activeKey = row.dataset.key
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const at = this.rows.findIndex((row) => row.key === this.activeKey)
    const row = this.rows[at]
    const inRow = event.target instanceof Element && event.target.matches('[data-focus]')
    if (!row || !inRow || !this.handleKey(event.key, at, row)) return
    event.preventDefault()
    event.stopPropagation()
  }

  private handleKey(key: string, at: number, row: Row): boolean {
    switch (key) {
      case 'ArrowDown':
      case 'j':
        return this.step(this.rows.slice(at + 1).find(canFocus))
      case 'ArrowUp':
      case 'k':
        return this.step(this.rows.slice(0, at).findLast(canFocus))
      case 'End':
        return this.step(this.rows.findLast(canFocus))
      case 'ArrowRight':
        return this.unfold(row, true)
      case 'ArrowLeft':
        // A row that is folded, or cannot fold, moves the focus to its parent.
        return ('open' in row && row.open) || row.kind === 'span'
          ? this.unfold(row, false)
          : this.step(holderOf(this.rows, at))
      case 'c':
        if (row.kind !== 'message') return false
        this.actions.copy(shownWords(row.message, this.answers))
        return true
      case 'Delete':
        if (row.kind === 'message') this.actions.eraseEvent(row.message.event)
        else if (row.kind === 'span') this.actions.eraseSpan(row.segment)
        else return false
        return true
      default:
        return false
    }
  }

  private step(row: Row | undefined): boolean {
    if (row) void this.activate(row.key)
    return row !== undefined
  }

  private unfold(row: Row, open: boolean): boolean {
    if (!('open' in row)) return false
    if (row.open !== open) this.toggle(row.kind === 'span' ? row.segment.key : row.key)
    return true
  }

  /** The row that the Tab key reaches: the active one, or the last. */
  private reachableKey(): string | undefined {
    const isKnown = this.rows.some((row) => row.key === this.activeKey)
    return isKnown ? this.activeKey : this.rows.findLast(canFocus)?.key
  }

  private context(): Omit<RowContext, 'tabindex'> {
    return {
      ...this.actions,
      callParty: this.callParty,
      markdown: this.markdown,
      answers: this.answers,
      toggle: this.toggle,
      toggleAnswer: (noteId) => this.actions.app.attempt(() => this.toggleAnswer(noteId)),
      fold: (segment) => void this.fold(segment),
    }
  }

  override render() {
    return html`
      <div class="pill top-day" ?hidden=${this.topDay === '' || this.atEnd} aria-hidden="true">${this.topDay}</div>
      <section
        class="scroller"
        aria-label=${this.name}
        aria-busy=${this.older === 'loading'}
        @scroll=${this.scrolled}
        @focusin=${this.focused}
        @keydown=${this.keyPressed}
      >
        ${this.topView()}
        <div class="rows">
          <div class="above"></div>
          <div class="below"></div>
        </div>
      </section>
    `
  }

  private topView() {
    switch (this.older) {
      case 'failed':
        return html`<div class="beside top">
          ${msg`Earlier entries could not be loaded.`}
          <button class="button small" @click=${() => this.dispatchEvent(new Event('older'))}>${msg`Try again`}</button>
        </div>`
      case 'more':
      case 'loading':
        return html`<div class="beside top"><span class="pulse"></span>${msg`Loading earlier entries…`}</div>`
      case 'none':
        return html`<div class="beside top">${msg`This is where your timeline begins.`}</div>`
      default:
        return nothing
    }
  }
}

function canFocus(row: Row): boolean {
  return row.kind !== 'day' && !['boundary', 'talk', 'preview', 'pending'].includes(row.kind)
}
