import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { NoteSummary } from '../../../src/http/contract/notes.ts'
import { takeText } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { type Command, matching } from './commands.ts'
import { DialogElement } from './dialog-element.ts'
import { PagedList } from './paged-list.ts'

type Group = { readonly heading: string; readonly commands: readonly Command[] }

const shownNotes = 6

/** The command palette: pages, actions, the search and notes, all by keyboard (ARIA combobox with a listbox). */
@customElement('dg-palette')
export class DgPalette extends DialogElement {
  static override readonly styles = css`
    .group {
      padding: var(--space-2) var(--space-3) var(--space-1);
    }
    .option {
      gap: var(--space-3);
      min-height: 2.5rem;
      padding: var(--space-1) var(--space-3);
    }
    .option dg-icon {
      color: var(--ink-soft);
    }
    .option span {
      unicode-bidi: plaintext;
    }
    .option[aria-selected='true'] dg-icon {
      color: inherit;
    }
  `
  @property({ attribute: false }) pages!: readonly Command[]
  @property({ attribute: false }) actions!: readonly Command[]
  /** The position of the chosen option. */
  @state() private at = 0
  private readonly notes = new PagedList<NoteSummary>(this, {
    fetch: async ({ signal, ...query }) => {
      const { notes, nextCursor } = await this.app.http.get('/api/notes', {
        query: { limit: shownNotes, ...query },
        signal,
      })
      return { items: notes, nextCursor }
    },
  })

  private readonly typed = (text: string): void => {
    this.at = 0
    this.notes.search(text)
  }

  /** Notes come last: they arrive later, and must not take the place of an option that Enter is about to run. */
  private groups(): readonly Group[] {
    const { query, items, loading } = this.notes
    // While it loads, these are the notes of an earlier query.
    const notes = loading ? [] : items
    const words = query.trim()
    const search: Command = {
      label: words === '' ? msg`Search the timeline` : msg`Search the timeline for “${words}”`,
      icon: 'search',
      run: () => this.app.navigate(`/?search=${encodeURIComponent(words)}`),
    }
    const groups = [
      { heading: msg`Pages`, commands: matching(this.pages, words) },
      { heading: msg`Actions`, commands: matching(this.actions, words) },
      { heading: msg`Search`, commands: [search] },
      { heading: words === '' ? msg`Recent notes` : msg`Notes`, commands: notes.map(openNote) },
    ]
    return groups.filter(({ commands }) => commands.length > 0)
  }

  /** Closes first, which returns the focus, so that a dialog of the command returns it there, too. */
  private run(command: Command | undefined): void {
    if (!command) return
    this.close()
    command.run()
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.isComposing) return
    const commands = this.groups().flatMap((group) => group.commands)
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) this.at = (this.at + step + commands.length) % commands.length
    else if (event.key === 'Enter') this.run(commands[this.at])
    else return
    event.preventDefault()
  }

  protected override updated(): void {
    this.renderRoot.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }

  override render() {
    const groups = this.groups()
    return html`<dg-dialog heading=${msg`Commands`} wide>
      <div class="input-with-icon">
        <dg-icon name="search"></dg-icon>
        <input
          class="input"
          type="text"
          role="combobox"
          autocomplete="off"
          aria-label=${msg`Find a command, a page or a note`}
          aria-autocomplete="list"
          aria-expanded="true"
          aria-controls="list"
          aria-activedescendant="option-${this.at}"
          placeholder=${msg`Find a command, a page or a note`}
          maxlength="200"
          .value=${this.notes.query}
          @input=${takeText(this.typed)}
          @keydown=${this.keyPressed}
        />
      </div>
      <div class="results" id="list" role="listbox" aria-label=${msg`Commands`}>${this.groupsView(groups)}</div>
      ${
        this.notes.problem === ''
          ? nothing
          : html`<p class="tiny" role="alert">${msg`The notes cannot be shown. ${this.notes.problem}`}</p>`
      }
    </dg-dialog>`
  }

  private groupsView(groups: readonly Group[]): readonly TemplateResult[] {
    let index = -1
    return groups.map(
      ({ heading, commands }) => html`<div role="group" aria-label=${heading}>
        <div class="tiny group" aria-hidden="true">${heading}</div>
        ${commands.map((command) => {
          index += 1
          return this.optionView(command, index)
        })}
      </div>`,
    )
  }

  private optionView(command: Command, index: number): TemplateResult {
    return html`<div
      class="option flat beside"
      role="option"
      id="option-${index}"
      aria-selected=${index === this.at}
      @click=${() => this.run(command)}
    >
      <dg-icon name=${command.icon}></dg-icon><span class="what">${command.label}</span>
    </div>`
  }
}

/** The service renders the page of a note. */
function openNote({ id, title }: NoteSummary): Command {
  return { label: title || msg`Untitled`, icon: 'note', run: () => location.assign(`/notes/${id}`) }
}
