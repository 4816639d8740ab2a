import type { ReactiveController, ReactiveControllerHost } from 'lit'
import { createRowHeights } from './row-heights.ts'
import { covers, nextWindow, type RowWindow, type WantedWindows } from './row-window.ts'

/** The elements of the list, which never change. */
export type Parts = {
  readonly scroller: HTMLElement
  readonly rows: HTMLElement
  readonly above: HTMLElement
  readonly below: HTMLElement
}
/** A visible row, and the distance of its top from the top of the viewport. */
type Anchor = { readonly key: string; readonly top: number }

const overscanPx = 600
/** At most this many rows beyond the viewport per update; more would delay the frame noticeably. */
const overscanRowsAtOnce = 6
/** How much of the unfolded content is scrolled into view. */
const revealPx = 280
/** Within this distance the list counts as scrolled to the end. */
const stickPx = 48

/**
 * Keeps only the rows near the viewport in the document. The host renders `spacer, rows of window, spacer` into
 * the scroller; row elements carry `data-key`. Visible rows keep their position when rows above them change, and
 * a list that is scrolled to the end stays there. Measured heights correct rough estimates.
 */
export class VirtualScroll<R extends { readonly key: string }> implements ReactiveController {
  window: RowWindow = { start: 0, end: 0 }
  /** Whether the list follows its end. */
  stuck = true
  private readonly host: ReactiveControllerHost
  private readonly heights = createRowHeights()
  private readonly parts: () => Parts | null
  private readonly estimate: (row: R, widthPx: number) => number
  private readonly onScroll: () => void
  private rows: readonly R[] = []
  private anchors: readonly Anchor[] = []
  private observer: ResizeObserver | null = null
  /** Observed elements and their last known height in pixels. */
  private readonly observed = new Map<Element, number>()
  /** The anchors were just taken, so `setRows` need not take them again. */
  private anchorsAreFresh = false
  private scrollTarget: { readonly key: string; readonly align: 'start' | 'center' } | null = null
  private scrollFrame = 0
  private growFrame = 0
  private lastTop = 0

  constructor(
    host: ReactiveControllerHost,
    options: {
      /** The elements, once rendered. */
      readonly parts: () => Parts | null
      /** Estimated height of a row in pixels. */
      readonly estimate: (row: R, widthPx: number) => number
      /** Called after scrolling, at most once per frame. */
      readonly onScroll: () => void
    },
  ) {
    this.host = host
    this.parts = options.parts
    this.estimate = options.estimate
    this.onScroll = options.onScroll
    host.addController(this)
  }

  hostConnected(): void {
    this.observer = new ResizeObserver((entries) => {
      // The observer also reports each element once when it is added; `settle` has measured those already.
      if (entries.filter((entry) => this.hasResized(entry)).length > 0) this.settle()
    })
  }

  hostDisconnected(): void {
    this.observer?.disconnect()
    this.observer = null
    this.observed.clear()
    cancelAnimationFrame(this.scrollFrame)
    cancelAnimationFrame(this.growFrame)
    this.scrollFrame = 0
    this.growFrame = 0
  }

  private hasResized({ target, borderBoxSize }: ResizeObserverEntry): boolean {
    const height = borderBoxSize[0]?.blockSize ?? 0
    const known = this.observed.get(target)
    this.observed.set(target, height)
    return known === undefined || !(Math.abs(height - known) < 0.05)
  }

  /** Call in the host's `willUpdate` with all rows. */
  setRows(rows: readonly R[]): void {
    if (!this.anchorsAreFresh) this.rememberAnchors()
    this.anchorsAreFresh = false
    if (rows !== this.rows) {
      this.rows = rows
      const width = this.parts()?.scroller.clientWidth ?? 800
      this.heights.setRows(rows, (index) => {
        const row = rows[index]
        return row ? this.estimate(row, width) : 0
      })
    }
    this.window = nextWindow(this.window, this.wantedWindows(), overscanRowsAtOnce)
  }

  hostUpdated(): void {
    this.observeRows()
    this.settle()
  }

  /** Handler for the scroll event of the scroller. */
  readonly handleScroll = (): void => {
    if (this.scrollFrame !== 0) return
    this.scrollFrame = requestAnimationFrame(() => {
      this.scrollFrame = 0
      const parts = this.parts()
      if (!parts) return
      const { scrollTop, scrollHeight, clientHeight } = parts.scroller
      // Only scrolling up unsticks; growing content must not.
      if (scrollHeight - scrollTop - clientHeight < stickPx) this.stuck = true
      else if (scrollTop < this.lastTop - 1) this.stuck = false
      this.lastTop = scrollTop
      this.scrollTarget = null
      this.rememberAnchors()
      const { near } = this.wantedWindows()
      const excess = this.window.end - this.window.start - (near.end - near.start)
      if (!covers(this.window, near) || excess > 60) {
        this.anchorsAreFresh = true
        this.host.requestUpdate()
      }
      this.onScroll()
    })
  }

  /** Whether the end is in view, even if the list does not follow it. */
  get atEnd(): boolean {
    const parts = this.stuck ? null : this.parts()
    if (!parts) return this.stuck
    const { scrollTop, scrollHeight, clientHeight } = parts.scroller
    return scrollHeight - scrollTop - clientHeight < stickPx
  }

  /** Stops following the end, so that a row that the owner is about to toggle stays in place. */
  holdPosition(): void {
    this.stuck = false
  }

  /** After unfolding a row, scrolls its content into view while keeping the row itself visible. */
  revealBelow(key: string): void {
    const parts = this.parts()
    const elements = parts ? this.rowElements(parts.rows) : []
    const element = elements.find((candidate) => candidate.dataset.key === key)
    if (!parts || !element) return
    const view = parts.scroller.getBoundingClientRect()
    const top = element.getBoundingClientRect().top - view.top
    const hiddenPx =
      Math.min(element.getBoundingClientRect().bottom + revealPx, this.endOf(parts)) - view.bottom
    if (hiddenPx > 0) parts.scroller.scrollTop += Math.min(hiddenPx, top - 72)
  }

  private endOf({ scroller }: Parts): number {
    return scroller.getBoundingClientRect().top + scroller.scrollHeight - scroller.scrollTop
  }

  scrollToEnd(): void {
    this.stuck = true
    this.scrollTarget = null
    this.host.requestUpdate()
  }

  /** Scrolls to any row, rendered or not. */
  scrollToRow(key: string, align: 'start' | 'center' = 'center'): void {
    this.stuck = false
    this.scrollTarget = { key, align }
    this.jumpNear(key, align)
    this.host.requestUpdate()
  }

  /** Index of the first visible row, or -1. */
  firstVisibleIndex(): number {
    const parts = this.parts()
    return parts && this.rows.length > 0 ? this.heights.indexAt(this.listTop(parts.scroller, parts.rows)) : -1
  }

  private listTop(scroller: HTMLElement, rows: HTMLElement): number {
    return scroller.scrollTop - rows.offsetTop
  }

  private wantedWindows(): WantedWindows {
    const parts = this.parts()
    const count = this.rows.length
    const none = { start: 0, end: 0 }
    if (count === 0) return { inView: none, near: none }
    const viewport = parts?.scroller.clientHeight ?? 800
    const { total } = this.heights
    const top = !parts || this.stuck ? total - viewport : this.topByAnchor(parts)
    const within = (marginPx: number) => ({
      start: this.heights.indexAt(Math.max(0, top - marginPx)),
      end: Math.min(count, this.heights.indexAt(top + viewport + marginPx) + 1),
    })
    return { inView: within(0), near: within(overscanPx) }
  }

  /** Renders missing rows in view immediately, and missing rows nearby one frame at a time. */
  private renderMore(): void {
    const { inView, near } = this.wantedWindows()
    if (!covers(this.window, inView)) this.host.requestUpdate()
    else if (!covers(this.window, near) && this.growFrame === 0) {
      this.growFrame = requestAnimationFrame(() => {
        this.growFrame = 0
        this.host.requestUpdate()
      })
    }
  }

  /** Offset of the viewport in the list once the anchor is back in place. */
  private topByAnchor({ scroller, rows }: Parts): number {
    for (const anchor of this.scrollTarget ? [] : this.anchors) {
      const index = this.rows.findIndex((row) => row.key === anchor.key)
      if (index >= 0) return this.heights.offsetOf(index) - anchor.top
    }
    return this.listTop(scroller, rows)
  }

  private jumpNear(key: string, align: 'start' | 'center'): void {
    const parts = this.parts()
    const index = this.rows.findIndex((row) => row.key === key)
    if (!parts || index < 0) return
    const lead = align === 'center' ? parts.scroller.clientHeight / 3 : 72
    parts.scroller.scrollTop = parts.rows.offsetTop + this.heights.offsetOf(index) - lead
    this.anchors = []
  }

  private rememberAnchors(): void {
    const parts = this.parts()
    if (!parts) return
    const { top, bottom } = parts.scroller.getBoundingClientRect()
    const anchors: Anchor[] = []
    for (const element of this.rowElements(parts.rows)) {
      const rect = element.getBoundingClientRect()
      if (rect.top >= bottom) break
      if (rect.bottom > top + 1) anchors.push({ key: element.dataset.key ?? '', top: rect.top - top })
    }
    this.anchors = anchors
  }

  private rowElements(rows: HTMLElement): HTMLElement[] {
    return [...rows.children].filter(
      (child): child is HTMLElement => child instanceof HTMLElement && child.dataset.key !== undefined,
    )
  }

  private observeRows(): void {
    const parts = this.parts()
    if (!parts || !this.observer) return
    const present = new Set<Element>([...this.rowElements(parts.rows), parts.scroller])
    for (const element of this.observed.keys()) {
      if (present.has(element)) continue
      this.observer.unobserve(element)
      this.observed.delete(element)
    }
    for (const element of present) {
      if (this.observed.has(element)) continue
      this.observer.observe(element)
      this.observed.set(element, Number.NaN)
    }
  }

  /** Measures the rendered rows, sets the spacers and restores the scroll position. */
  private settle(): void {
    const parts = this.parts()
    if (!parts) return
    const { scroller, rows, above, below } = parts
    const elements = this.rowElements(rows)
    elements.forEach((element, offset) => {
      const { height } = element.getBoundingClientRect()
      this.heights.measured(this.window.start + offset, height)
      if (this.observed.has(element)) this.observed.set(element, height)
    })
    // Set as properties, because the content security policy forbids style attributes.
    above.style.height = `${this.heights.offsetOf(this.window.start)}px`
    below.style.height = `${this.heights.total - this.heights.offsetOf(this.window.end)}px`
    if (this.scrollTarget) this.reveal(scroller, elements)
    else if (this.stuck) scroller.scrollTop = scroller.scrollHeight
    else this.restoreAnchor(scroller, elements)
    this.lastTop = scroller.scrollTop
    this.rememberAnchors()
    this.renderMore()
  }

  private restoreAnchor(scroller: HTMLElement, elements: readonly HTMLElement[]): void {
    const byKey = new Map(elements.map((element) => [element.dataset.key, element]))
    const anchor = this.anchors.find(({ key }) => byKey.has(key))
    const element = anchor && byKey.get(anchor.key)
    if (!element) return
    const shift = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.top
    if (Math.abs(shift) >= 0.5) scroller.scrollTop += shift
  }

  private reveal(scroller: HTMLElement, elements: readonly HTMLElement[]): void {
    const target = this.scrollTarget
    if (!target) return
    const element = elements.find((candidate) => candidate.dataset.key === target.key)
    if (!element) {
      this.jumpNear(target.key, target.align)
      return
    }
    const lead = target.align === 'center' ? scroller.clientHeight / 3 : 72
    const top = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top
    scroller.scrollTop += top - lead
  }
}
