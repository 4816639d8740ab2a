import { html, nothing, type TemplateResult } from 'lit'
import '../design/icon.ts'
import '../design/state.ts'
import type { ListPage, PagedList } from './paged-list.ts'

/** A list in any state: loading, failed, stale or loaded. `what` names it in a sentence ("the notes"). */
export function listView<Item, Page extends ListPage<Item>>(
  list: PagedList<Item, Page>,
  what: string,
  content: (page: Page) => TemplateResult,
): TemplateResult {
  const { page, problem } = list
  if (page === null && problem !== '') {
    const subject = what.charAt(0).toUpperCase() + what.slice(1)
    return html`<dg-state icon="offline" heading="${subject} cannot be shown" role="alert">
      <p>${problem}</p>
      <button class="button" @click=${() => void list.reload()}>Try again</button>
    </dg-state>`
  }
  if (page === null) {
    return html`<div role="status" aria-label="Loading ${what}">
      <div class="waiting"></div>
      <div class="waiting"></div>
      <div class="waiting"></div>
    </div>`
  }
  return html`
    ${
      problem === ''
        ? nothing
        : html`<p class="stale" role="alert">
            This list may be out of date. ${problem}
            <button class="button small" @click=${() => void list.reload()}>Try again</button>
          </p>`
    }
    ${content(page)}
  `
}

/** A button that loads the next page, if there is one. */
export function moreView<Item, Page extends ListPage<Item>>(
  list: PagedList<Item, Page>,
  label = 'Show more',
): TemplateResult | typeof nothing {
  if (!list.hasMore) return nothing
  return html`<p class="more">
    <button class="button" ?disabled=${list.loading} @click=${() => void list.more()}>
      ${list.loading ? 'Loading…' : label}
    </button>
  </p>`
}

export function searchField<Item, Page extends ListPage<Item>>(
  list: PagedList<Item, Page>,
  label: string,
): TemplateResult {
  return html`<div class="input-with-icon">
    <dg-icon name="search"></dg-icon>
    <input
      class="input"
      type="search"
      aria-label=${label}
      placeholder=${label}
      .value=${list.query}
      @input=${(event: Event) => {
        if (event.target instanceof HTMLInputElement) list.search(event.target.value)
      }}
    />
  </div>`
}
