import { html, nothing, type TemplateResult } from 'lit'
import { searchInput } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { Loaded, type LoadedHost } from './loaded.ts'

/** A page of a list; `nextCursor` is null on the last one. */
export type ListPage<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

type ListQuery = { readonly q?: string; readonly cursor?: string; readonly signal: AbortSignal }

type Ask<Page> = (cursor: string | null) => Promise<Page>

/** A paged list, searched as the owner types, and reloaded up to the same length. */
export class PagedList<Item, Page extends ListPage<Item> = ListPage<Item>> extends Loaded<Page> {
  query = ''
  private readonly fetchPage: (query: ListQuery) => Promise<Page>

  constructor(
    host: LoadedHost,
    options: {
      readonly fetch: (query: ListQuery) => Promise<Page>
      /** Whether an event of this type may change the list. */
      readonly concerns?: (type: string) => boolean
    },
  ) {
    super(host, { ...options, fetch: (signal) => options.fetch({ signal }) })
    this.fetchPage = options.fetch
  }

  get items(): readonly Item[] {
    return this.value?.items ?? []
  }

  get hasMore(): boolean {
    return this.value !== null && this.value.nextCursor !== null
  }

  /** Whether the list itself is empty, rather than the result of a search. */
  get isEmpty(): boolean {
    return this.value !== null && this.items.length === 0 && this.query.trim() === '' && !this.loading
  }

  /** Loads the matching items once the owner stops typing. */
  search(text: string): void {
    this.query = text
    this.readAfterTyping(this.restart)
  }

  /** Reloads as many items as are loaded. */
  override readonly reload = (): Promise<void> =>
    this.read((signal) => upTo(this.items.length, this.asking(signal)))

  /** Loads the first page, for a changed query. */
  readonly restart = (): Promise<void> => this.read((signal) => this.asking(signal)(null))

  readonly more = (): Promise<void> => {
    const { value } = this
    if (value === null || value.nextCursor === null) return Promise.resolve()
    return this.read(async (signal) => joined(value, await this.asking(signal)(value.nextCursor)))
  }

  private asking(signal: AbortSignal): Ask<Page> {
    const q = this.query.trim()
    return (cursor) =>
      this.fetchPage({ signal, ...(q === '' ? {} : { q }), ...(cursor === null ? {} : { cursor }) })
  }
}

/** Loads pages until there are `count` items. */
async function upTo<Item, Page extends ListPage<Item>>(count: number, ask: Ask<Page>): Promise<Page> {
  let page = await ask(null)
  while (page.items.length < count && page.nextCursor !== null) {
    page = joined(page, await ask(page.nextCursor))
  }
  return page
}

/** Appends a page. The cursor and any totals come from the later one. */
function joined<Item, Page extends ListPage<Item>>(page: Page, next: Page): Page {
  return { ...next, items: [...page.items, ...next.items] }
}

/** A button that loads the next page, if there is one. */
export function moreView(
  list: Pick<PagedList<unknown>, 'hasMore' | 'loading' | 'more'>,
  label = msg`Show more`,
): TemplateResult | typeof nothing {
  if (!list.hasMore) return nothing
  return html`<p class="more">
    <button class="button" ?disabled=${list.loading} @click=${() => void list.more()}>
      ${list.loading ? msg`Loading…` : label}
    </button>
  </p>`
}

export function searchField(
  list: Pick<PagedList<unknown>, 'query' | 'search'>,
  label: string,
): TemplateResult {
  return searchInput(label, label, list.query, (text) => list.search(text))
}
