import type { LitElement, ReactiveController } from 'lit'
import { RowHeights } from './row-heights.ts'

type Parts = { readonly scroller: HTMLElement; readonly rows: HTMLElement }
/** A visible row, and the distance of its top from the top of the viewport. */
type Anchor = { readonly key: string; readonly top: number }

const overscanPx = 600
/** How much of the unfolded content is scrolled into view. */
const revealPx = 280
/** Within this distance the list counts as scrolled to the end. */
const stickPx = 48

/**
 * Keeps only the rows near the viewport in the document. The host renders `spacer, rows of window, spacer` into
 * the element `.rows` of its `.scroller`; row elements carry `data-key`. Visible rows keep their position when
 * rows above them change, and a list that is scrolled to the end stays there. Measured heights correct rough
 * estimates.
 */
export class VirtualScroll<R extends { readonly key: string }> implements ReactiveController {
  /** The rendered rows, without the one at `end`. */
  window = { start: 0, end: 0 }
  /** Whether the list follows its end. */
  stuck = true
  private readonly host: LitElement
  private readonly estimate: (row: R, widthPx: number) => number
  private readonly heights = new RowHeights<R>()
  private readonly observer = new ResizeObserver(() => this.settle())
  private rows: readonly R[] = []
  private anchors: readonly Anchor[] = []
  /** The row to scroll to. */
  private targetKey: string | null = null
  private lastTop = 0

  /** `estimate` is the height of a row in pixels until it is rendered. */
  constructor(host: LitElement, estimate: (row: R, widthPx: number) => number) {
    this.host = host
    this.estimate = estimate
    host.addController(this)
  }

  hostDisconnected(): void {
    this.observer.disconnect()
  }

  /** Call in the host's `willUpdate` with all rows. */
  setRows(rows: readonly R[]): void {
    this.rememberAnchors()
    if (rows !== this.rows) {
      this.rows = rows
      const width = this.parts()?.scroller.clientWidth ?? 800
      this.heights.setRows(rows, (row) => this.estimate(row, width))
    }
    this.window = this.wantedWindow()
  }

  hostUpdated(): void {
    const parts = this.parts()
    if (!parts) return
    this.observer.disconnect()
    for (const element of [parts.scroller, ...rowElements(parts)]) this.observer.observe(element)
    this.settle()
  }

  /** Call on the scroll event of the scroller. */
  handleScroll(): void {
    const parts = this.parts()
    if (!parts) return
    const { scrollTop } = parts.scroller
    // Only scrolling up unsticks; growing content must not.
    if (belowPx(parts) < stickPx) this.stuck = true
    else if (scrollTop < this.lastTop - 1) this.stuck = false
    this.lastTop = scrollTop
    this.targetKey = null
    this.rememberAnchors()
    this.renderMissing()
  }

  /** Whether the end is in view, even if the list does not follow it. */
  get atEnd(): boolean {
    const parts = this.parts()
    return this.stuck || (parts !== null && belowPx(parts) < stickPx)
  }

  /** After unfolding a row, scrolls its content into view while keeping the row itself visible. */
  revealBelow(key: string): void {
    const parts = this.parts()
    const element = parts && rowElements(parts).find((candidate) => candidate.dataset.key === key)
    if (!element) return
    const view = parts.scroller.getBoundingClientRect()
    const { top, bottom } = element.getBoundingClientRect()
    const hiddenPx = Math.min(bottom + revealPx - view.bottom, belowPx(parts))
    if (hiddenPx > 0) parts.scroller.scrollTop += Math.min(hiddenPx, top - view.top - 72)
  }

  scrollToEnd(): void {
    this.stuck = true
    this.targetKey = null
    this.host.requestUpdate()
  }

  /** Scrolls to any row, rendered or not. */
  scrollToRow(key: string): void {
    this.stuck = false
    this.targetKey = key
    this.jumpNear(key)
    this.host.requestUpdate()
  }

  /** Index of the first visible row, or -1. */
  firstVisibleIndex(): number {
    const parts = this.parts()
    return parts && this.rows.length > 0 ? this.heights.indexAt(listTop(parts)) : -1
  }

  private parts(): Parts | null {
    const scroller = this.host.renderRoot?.querySelector<HTMLElement>('.scroller')
    const rows = scroller?.querySelector<HTMLElement>('.rows')
    return scroller && rows ? { scroller, rows } : null
  }

  private wantedWindow(): { start: number; end: number } {
    const parts = this.parts()
    if (this.rows.length === 0) return { start: 0, end: 0 }
    const viewport = parts?.scroller.clientHeight ?? 800
    const top = !parts || this.stuck ? this.heights.total - viewport : this.topByAnchor(parts)
    return {
      start: this.heights.indexAt(top - overscanPx),
      end: this.heights.indexAt(top + viewport + overscanPx) + 1,
    }
  }

  private renderMissing(): void {
    const { start, end } = this.wantedWindow()
    if (start < this.window.start || end > this.window.end) this.host.requestUpdate()
  }

  /** Offset of the viewport in the list once the anchor is back in place. */
  private topByAnchor(parts: Parts): number {
    for (const anchor of this.targetKey === null ? this.anchors : []) {
      const index = this.indexOf(anchor.key)
      if (index >= 0) return this.heights.offsetOf(index) - anchor.top
    }
    return listTop(parts)
  }

  private indexOf(key: string): number {
    return this.rows.findIndex((row) => row.key === key)
  }

  private jumpNear(key: string): void {
    const parts = this.parts()
    const index = this.indexOf(key)
    if (!parts || index < 0) return
    const { scroller, rows } = parts
    scroller.scrollTop = rows.offsetTop + this.heights.offsetOf(index) - scroller.clientHeight / 3
    this.anchors = []
  }

  private rememberAnchors(): void {
    const parts = this.parts()
    if (!parts) return
    const { top, bottom } = parts.scroller.getBoundingClientRect()
    this.anchors = rowElements(parts)
      .map((element) => ({ key: element.dataset.key ?? '', rect: element.getBoundingClientRect() }))
      .filter(({ rect }) => rect.bottom > top + 1 && rect.top < bottom)
      .map(({ key, rect }) => ({ key, top: rect.top - top }))
  }

  /** Measures the rendered rows, sets the spacers and restores the scroll position. */
  private settle(): void {
    const parts = this.parts()
    if (!parts) return
    const { scroller, rows } = parts
    const elements = rowElements(parts)
    elements.forEach((element, offset) => {
      this.heights.measured(this.window.start + offset, element.getBoundingClientRect().height)
    })
    const [above, below] = [rows.firstElementChild, rows.lastElementChild]
    setHeight(above, this.heights.offsetOf(this.window.start))
    setHeight(below, this.heights.total - this.heights.offsetOf(this.window.end))
    if (this.targetKey !== null) this.reveal(scroller, elements, this.targetKey)
    else if (this.stuck) scroller.scrollTop = scroller.scrollHeight
    else this.restoreAnchor(scroller, elements)
    this.lastTop = scroller.scrollTop
    this.rememberAnchors()
    this.renderMissing()
  }

  private restoreAnchor(scroller: HTMLElement, elements: readonly HTMLElement[]): void {
    for (const anchor of this.anchors) {
      const element = elements.find((candidate) => candidate.dataset.key === anchor.key)
      if (!element) continue
      const shift = topIn(scroller, element) - anchor.top
      if (Math.abs(shift) >= 0.5) scroller.scrollTop += shift
      return
    }
  }

  private reveal(scroller: HTMLElement, elements: readonly HTMLElement[], key: string): void {
    const element = elements.find((candidate) => candidate.dataset.key === key)
    if (element) scroller.scrollTop += topIn(scroller, element) - scroller.clientHeight / 3
    else this.jumpNear(key)
  }
}

function rowElements({ rows }: Parts): HTMLElement[] {
  return [...rows.querySelectorAll<HTMLElement>(':scope > [data-key]')]
}

/** How far the scroller is from its end. */
function belowPx({ scroller }: Parts): number {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight
}

/** Offset of the viewport in the list. */
function listTop({ scroller, rows }: Parts): number {
  return scroller.scrollTop - rows.offsetTop
}

function topIn(scroller: HTMLElement, element: HTMLElement): number {
  return element.getBoundingClientRect().top - scroller.getBoundingClientRect().top
}

/** Set as a property, because the content security policy forbids style attributes. */
function setHeight(spacer: Element | null, px: number): void {
  if (spacer instanceof HTMLElement) spacer.style.height = `${px}px`
}
