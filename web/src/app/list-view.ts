import { html, nothing, type TemplateResult } from 'lit'
import { searchInput } from '../design/field.ts'
import type { PagedList } from './paged-list.ts'

/** A button that loads the next page, if there is one. */
export function moreView(
  list: Pick<PagedList<unknown>, 'hasMore' | 'loading' | 'more'>,
  label = 'Show more',
): TemplateResult | typeof nothing {
  if (!list.hasMore) return nothing
  return html`<p class="more">
    <button class="button" ?disabled=${list.loading} @click=${() => void list.more()}>
      ${list.loading ? 'Loading…' : label}
    </button>
  </p>`
}

export function searchField(
  list: Pick<PagedList<unknown>, 'query' | 'search'>,
  label: string,
): TemplateResult {
  return searchInput(label, label, list.query, (text) => list.search(text))
}
