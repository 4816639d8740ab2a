import type { ReactiveController, ReactiveControllerHost } from 'lit'
import { explain } from '../data/http.ts'

/** A page of a list; `nextCursor` is null on the last one. */
export type ListPage<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

export type ListQuery = { readonly q?: string; readonly cursor?: string; readonly signal: AbortSignal }

type PagedListOptions<Page> = {
  readonly fetch: (query: ListQuery) => Promise<Page>
  /** Subscribes to the types of new events; returns the unsubscribe function. */
  readonly follow: (listener: (type: string) => void) => () => void
  /** Whether an event of this type may change the list. */
  readonly concerns: (type: string) => boolean
}

/** Coalesces the events of a turn into one reload. */
const debounceMs = 250
const typingPauseMs = 170

/**
 * A paged list, searched as the owner types and reloaded up to the same length on events that concern it.
 * A new request aborts the one in progress. A failure keeps the current page and sets `problem`.
 */
export class PagedList<Item, Page extends ListPage<Item> = ListPage<Item>> implements ReactiveController {
  /** All items loaded so far, as one page; null before the first response. */
  page: Page | null = null
  query = ''
  /** Why the last request failed; empty if it succeeded. */
  problem = ''
  loading = false
  private readonly host: ReactiveControllerHost
  private readonly options: PagedListOptions<Page>
  private running: AbortController | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private unfollow: () => void = () => undefined

  constructor(host: ReactiveControllerHost, options: PagedListOptions<Page>) {
    this.host = host
    this.options = options
    host.addController(this)
  }

  hostConnected(): void {
    this.unfollow = this.options.follow((type) => {
      if (this.options.concerns(type)) this.schedule(debounceMs, this.reload)
    })
    void this.reload()
  }

  hostDisconnected(): void {
    this.unfollow()
    this.running?.abort()
    clearTimeout(this.timer)
  }

  get items(): readonly Item[] {
    return this.page?.items ?? []
  }

  get hasMore(): boolean {
    return this.page !== null && this.page.nextCursor !== null
  }

  /** Whether the list itself is empty, rather than the result of a search. */
  get isEmpty(): boolean {
    return this.page !== null && this.items.length === 0 && this.query.trim() === '' && !this.loading
  }

  /** Loads the matching items once the owner stops typing. */
  search(text: string): void {
    this.query = text
    this.host.requestUpdate()
    this.schedule(typingPauseMs, this.restart)
  }

  /** Reloads as many items as are loaded. */
  readonly reload = (): Promise<void> => this.read(async (ask) => this.upTo(this.items.length, ask))

  /** Loads the first page, for a changed query. */
  readonly restart = (): Promise<void> => this.read(async (ask) => ask(null))

  readonly more = (): Promise<void> => {
    const { page } = this
    if (page === null || page.nextCursor === null) return Promise.resolve()
    return this.read(async (ask) => joined(page, await ask(page.nextCursor)))
  }

  private schedule(pauseMs: number, act: () => Promise<void>): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void act(), pauseMs)
  }

  private async upTo(count: number, ask: (cursor: string | null) => Promise<Page>): Promise<Page> {
    let page = await ask(null)
    while (page.items.length < count && page.nextCursor !== null) {
      page = joined(page, await ask(page.nextCursor))
    }
    return page
  }

  private async read(make: (ask: (cursor: string | null) => Promise<Page>) => Promise<Page>): Promise<void> {
    clearTimeout(this.timer)
    this.running?.abort()
    const running = new AbortController()
    this.running = running
    this.loading = true
    this.host.requestUpdate()
    const q = this.query.trim()
    const ask = (cursor: string | null) =>
      this.options.fetch({
        signal: running.signal,
        ...(q === '' ? {} : { q }),
        ...(cursor === null ? {} : { cursor }),
      })
    try {
      const page = await make(ask)
      if (running.signal.aborted) return
      this.page = page
      this.problem = ''
    } catch (error) {
      if (!running.signal.aborted) this.problem = explain(error)
    } finally {
      if (this.running === running) this.loading = false
      this.host.requestUpdate()
    }
  }
}

/** Appends a page. The cursor and any totals come from the later one. */
function joined<Item, Page extends ListPage<Item>>(page: Page, next: Page): Page {
  return { ...next, items: [...page.items, ...next.items] }
}
