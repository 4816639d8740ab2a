import { css, html, nothing, type ReactiveControllerHost, type TemplateResult } from 'lit'
import { msg } from '../design/msg.ts'

/** Entries that can be selected, and the bar with what can be done with those that are. */
export const pickStyles = css`
  .pick {
    display: grid;
    width: 1.5rem;
    height: 1.5rem;
    place-items: center;
    cursor: pointer;
  }
  .picked {
    position: sticky;
    bottom: var(--space-3);
    gap: var(--space-2);
    margin-top: var(--space-3);
    padding: var(--space-2) var(--space-3);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-md);
    background: var(--raised);
    box-shadow: var(--shadow-high);
  }
  .picked p {
    flex: 1 1 8rem;
  }
`

/** The ids of the entries that the owner selected, also of those that a search hides. */
export class Picked {
  private readonly host: ReactiveControllerHost
  private chosen: ReadonlySet<string> = new Set()

  constructor(host: ReactiveControllerHost) {
    this.host = host
  }

  get ids(): string[] {
    return [...this.chosen]
  }

  /** Selects these and no others. */
  choose(ids: Iterable<string>): void {
    this.chosen = new Set(ids)
    this.host.requestUpdate()
  }

  /** Those of the entries that are selected. */
  of<Entry extends { readonly id: string }>(entries: readonly Entry[]): Entry[] {
    return entries.filter(({ id }) => this.chosen.has(id))
  }

  /** The checkbox of an entry. */
  boxView(id: string, name: string, title = msg`Select`): TemplateResult {
    const toggle = () => this.choose(this.chosen.symmetricDifference(new Set([id])))
    return html`<label class="pick" title=${title}>
      <input
        type="checkbox"
        aria-label=${msg`Select: ${name}`}
        .checked=${this.chosen.has(id)}
        @change=${toggle}
      />
    </label>`
  }

  /** What can be done with `count` selected entries. */
  barView(
    label: string,
    count: number,
    buttons: TemplateResult,
    words = msg`${count} selected`,
  ): TemplateResult | typeof nothing {
    if (count === 0) return nothing
    return html`<div class="actions picked" role="group" aria-label=${label}>
      <p role="status">${words}</p>
      <button class="button quiet small" @click=${() => this.choose([])}>${msg`Clear`}</button>
      ${buttons}
    </div>`
  }
}
