import type { ReactiveController, ReactiveControllerHost } from 'lit'
import { explain } from '../data/http.ts'

/** Part of a list as the service gives it out; `nextCursor` is null at the end. */
export type ListPage<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

export type ListQuery = { readonly q?: string; readonly cursor?: string; readonly signal: AbortSignal }

type PagedListOptions<Page> = {
  readonly fetch: (query: ListQuery) => Promise<Page>
  /** Subscribes to the types of the facts that happen; returns its own end. */
  readonly follow: (listener: (type: string) => void) => () => void
  /** Whether a fact of this type may change the list. */
  readonly concerns: (type: string) => boolean
}

/** One turn may change several things: they are one reason to look again. */
const settleMs = 250
const typingPauseMs = 170

/**
 * A list that is read page by page, searched as the owner types, and read again when something happens that concerns
 * it: then as far as it was read before. Of several requests under way only the last one counts. A failure leaves
 * what is shown as it is, and says so in `problem`.
 */
export class PagedList<Item, Page extends ListPage<Item> = ListPage<Item>> implements ReactiveController {
  /** What was read so far, as one page; null before the first answer. */
  page: Page | null = null
  query = ''
  /** Why the last request failed; empty once one succeeds. */
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
      if (this.options.concerns(type)) this.soon(settleMs, this.reload)
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

  /** Nothing is in the list, and nothing was asked for that could be the reason. */
  get isEmpty(): boolean {
    return this.page !== null && this.items.length === 0 && this.query.trim() === '' && !this.loading
  }

  /** Asks anew, from the beginning, a moment after the last key. */
  search(text: string): void {
    this.query = text
    this.host.requestUpdate()
    this.soon(typingPauseMs, this.restart)
  }

  /** Reads again as far as it was read. */
  readonly reload = (): Promise<void> => this.read(async (ask) => this.upTo(this.items.length, ask))

  /** Reads the first page: what is asked for is another list now. */
  readonly restart = (): Promise<void> => this.read(async (ask) => ask(null))

  readonly more = (): Promise<void> => {
    const { page } = this
    if (page === null || page.nextCursor === null) return Promise.resolve()
    return this.read(async (ask) => joined(page, await ask(page.nextCursor)))
  }

  private soon(pauseMs: number, act: () => Promise<void>): void {
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

/** What came later says how it all stands: a total, the next cursor. */
function joined<Item, Page extends ListPage<Item>>(page: Page, next: Page): Page {
  return { ...next, items: [...page.items, ...next.items] }
}
