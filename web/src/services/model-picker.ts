import { css, html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { matching } from '../app/commands.ts'
import { fieldView, notesView, searchInput, takeText } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { StyledElement } from '../design/styled-element.ts'
import { byName, contextText, type OfferedModel } from './service-words.ts'

/** Fewer models than this need no search. */
const searchFrom = 9

/**
 * Chooses one of the models that a service lists, or any other by its name. Fires `pick` with the name. Where
 * none are listed, there is a plain field.
 */
@customElement('dg-model-picker')
export class DgModelPicker extends StyledElement {
  static override readonly styles = css`
    legend {
      padding: 0;
      margin-bottom: 0.375rem;
    }
    .options {
      max-height: 14.5rem;
      border: 1px solid var(--line-strong);
      border-radius: var(--radius-md);
    }
    .option {
      gap: var(--space-3);
      min-height: 2.75rem;
      padding: var(--space-1) var(--space-3);
      cursor: pointer;
    }
    .option + .option {
      border-top: 1px solid var(--line);
    }
    .option:hover {
      background: var(--hover);
    }
    .option:has(:checked) {
      background: var(--accent-soft);
      color: var(--on-accent-soft);
    }
    .option > .soft {
      flex: none;
    }
    .option:has(:checked) > .soft {
      color: inherit;
    }
    .none {
      padding: var(--space-3);
    }
  `
  @property({ attribute: false }) models: readonly OfferedModel[] = []
  @property() value = ''
  @property() label = msg`Model`
  @property() error = ''
  @state() private query = ''

  override focus(): void {
    const chosen = this.renderRoot.querySelector<HTMLElement>('input:checked')
    const field = chosen ?? this.renderRoot.querySelector<HTMLElement>('input')
    field?.focus()
  }

  protected override updated(changed: PropertyValues): void {
    if (!changed.has('models') && !changed.has('query')) return
    // Shows the chosen one of a long list, without scrolling the page.
    const scroller = this.renderRoot.querySelector<HTMLElement>('.options')
    if (scroller && this.query !== '') scroller.scrollTop = 0
    if (this.query !== '') return
    const chosen = scroller?.querySelector<HTMLElement>('.option:has(:checked)')
    if (scroller && chosen) scroller.scrollTop = chosen.offsetTop - scroller.offsetTop
  }

  private readonly pick = takeText((detail) => {
    this.dispatchEvent(new CustomEvent('pick', { detail: detail.trim() }))
  })

  /** The field is in a shadow root, so it does not send the form by itself. */
  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') this.closest('form')?.requestSubmit()
  }

  override render() {
    const { models, label, error } = this
    if (models.length === 0)
      return html`<div @input=${this.pick} @keydown=${this.keyPressed}>
        ${fieldView({
          name: 'model-name',
          label,
          value: this.value,
          hint: msg`No models are listed. Enter the name of one.`,
          error,
        })}
      </div>`
    const listed = matching(
      models.map((model) => ({ ...model, label: model.id })),
      this.query,
    ).toSorted((a, b) => byName(a.id, b.id))
    const isOther = (name: string) => name !== '' && models.every(({ id }) => id !== name)
    return html`<fieldset class="field" aria-describedby="model-name-notes">
      <legend class="label">${label}</legend>
      ${models.length < searchFrom ? nothing : this.searchView()}
      <div class="options scroller">
        ${isOther(this.value) ? this.optionView(this.value, msg`not in the list`) : nothing}
        ${listed.map(({ id, contextTokens }) => this.optionView(id, contextText(contextTokens)))}
        ${isOther(this.query) && this.query !== this.value ? this.optionView(this.query, msg`not in the list`) : nothing}
      </div>
      ${notesView({ name: 'model-name', error })}
    </fieldset>`
  }

  private searchView(): TemplateResult {
    const label = msg`Search the models, or enter another name`
    return searchInput(label, msg`Search ${this.models.length} models`, this.query, (text) => {
      this.query = text.trim()
    })
  }

  private optionView(id: string, note: string): TemplateResult {
    return html`<label class="option beside">
      <input type="radio" name="model" .value=${id} .checked=${id === this.value} @change=${this.pick} />
      <span class="what">${id}</span>${note === '' ? nothing : html`<span class="soft">${note}</span>`}
    </label>`
  }
}
