import { html, nothing, type TemplateResult } from 'lit'
import { locale, msg } from './msg.ts'

/** The service requires it of a new password. */
export const minPasswordLength = 12

type Field = {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'url' | 'tel' | 'password' | 'datetime-local' | 'date'
  readonly value?: string
  readonly hint?: string
  /** Error message to show. */
  readonly error?: string | undefined
  readonly placeholder?: string
  readonly autocomplete?: AutoFill
  readonly required?: boolean
  /** The on-screen keyboard. */
  readonly inputmode?: 'numeric'
  /** Id of a datalist with suggestions. */
  readonly list?: string
}

/** A handler that takes the text or choice of the field that fires the event. */
export function takeText(take: (text: string) => void): (event: Event) => void {
  return ({ target }) => {
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) take(target.value)
    else if (target instanceof HTMLSelectElement) take(target.value)
  }
}

const hasDecimalComma = new Intl.NumberFormat(locale).format(0.5).includes(',')

/** A typed number as programs write it. Where a language has a decimal comma, the keypad of a phone has no point. */
export const withPoint = (text: string): string => (hasDecimalComma ? text.replace(',', '.') : text)

/** Whether an edit inserts what the owner did not type. Undoing one may bring back such text. */
export function isPaste(inputType: string): boolean {
  return /^insertFrom(?:Paste|Drop|Yank)|^history/.test(inputType)
}

/** A label, its control, and the hint or error that is linked to it for screen readers. */
function labelled(field: Field, control: TemplateResult): TemplateResult {
  return html`<div class="field">
    <label for=${field.name}>${field.label}</label>
    ${control} ${notesView(field)}
  </div>`
}

/** A labelled native input. */
export function fieldView(field: Field): TemplateResult {
  return labelled(field, inputView(field))
}

function inputView(field: Field): TemplateResult {
  return html`<input
    class="input"
    id=${field.name}
    name=${field.name}
    type=${field.type ?? 'text'}
    .value=${field.value ?? ''}
    placeholder=${field.placeholder ?? nothing}
    autocomplete=${field.autocomplete ?? (field.type === 'password' ? 'new-password' : 'off')}
    autocapitalize="off"
    spellcheck="false"
    inputmode=${field.inputmode ?? nothing}
    list=${field.list ?? nothing}
    ?required=${field.required ?? false}
    aria-invalid=${field.error ? 'true' : 'false'}
    aria-describedby="${field.name}-notes"
  />`
}

/** A field that searches as the owner types. */
export function searchInput(
  label: string,
  placeholder: string,
  query: string,
  search: (text: string) => void,
): TemplateResult {
  return html`<div class="input-with-icon">
    <dg-icon name="search"></dg-icon>
    <input
      class="input"
      type="search"
      aria-label=${label}
      placeholder=${placeholder}
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      .value=${query}
      @input=${takeText(search)}
    />
  </div>`
}

/** A labelled field for a longer text. */
export function areaView(field: Field & { readonly maxLength?: number }): TemplateResult {
  return labelled(
    field,
    html`<textarea
      class="input"
      id=${field.name}
      name=${field.name}
      placeholder=${field.placeholder ?? nothing}
      maxlength=${field.maxLength ?? nothing}
      aria-invalid=${field.error ? 'true' : 'false'}
      aria-describedby="${field.name}-notes"
      .value=${field.value ?? ''}
    ></textarea>`,
  )
}

/** A labelled list of choices, each a value and its label. */
export function choiceView(
  name: string,
  label: string,
  choices: readonly (readonly [value: string, label: string])[],
  chosen?: string,
): TemplateResult {
  return html`<div class="field">
    <label for=${name}>${label}</label>
    <select class="input" id=${name} name=${name}>
      ${choices.map(([value, text]) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`)}
    </select>
  </div>`
}

/** A password field with a button that reveals its text. */
export function passwordView(field: Field): TemplateResult {
  const input = inputView({ autocomplete: 'current-password', required: true, ...field, type: 'password' })
  return labelled(
    field,
    html`<div class="input-with-button">
      ${input}
      <button
        class="button quiet icon"
        type="button"
        aria-label=${msg`Show the password`}
        aria-pressed="false"
        @click=${reveal}
      >
        <dg-icon name="show"></dg-icon>
      </button>
    </div>`,
  )
}

/** Shows or hides the text of the password field before the button. */
function reveal({ currentTarget: button }: Event): void {
  const input = button instanceof Element ? button.previousElementSibling : null
  if (!(button instanceof HTMLElement) || !(input instanceof HTMLInputElement)) return
  const isShown = input.type === 'password'
  input.type = isShown ? 'text' : 'password'
  button.ariaPressed = String(isShown)
  button.ariaLabel = isShown ? msg`Hide the password` : msg`Show the password`
  button.querySelector('dg-icon')?.setAttribute('name', isShown ? 'hide' : 'show')
}

/** A field for a code of the authenticator app or a recovery code, which has letters too. */
export function codeView(field: Pick<Field, 'name' | 'label' | 'hint' | 'error'>): TemplateResult {
  return fieldView({ ...field, autocomplete: 'one-time-code', required: true })
}

/** A button that uses a passkey instead. */
export function passkeyButton(look: string, busy: boolean, use: () => unknown): TemplateResult {
  return html`<button class="button ${look}" type="button" ?disabled=${busy} @click=${use}>
    <dg-icon name="passkey"></dg-icon>${msg`Use a passkey`}
  </button>`
}

/** Tells password managers whose password the form asks for. */
export const usernameView: TemplateResult = html`<input class="visually-hidden" type="text" name="username" value="owner" autocomplete="username" tabindex="-1" aria-hidden="true" readonly />`

/** What is wrong with a field, if anything. */
export function fieldError(error: string | undefined): TemplateResult | typeof nothing {
  return error
    ? html`<div class="field-error"><dg-icon name="warning"></dg-icon><span>${error}</span></div>`
    : nothing
}

/** The hint of a field, or its error instead. */
export function notesView({ name, hint, error }: Pick<Field, 'name' | 'hint' | 'error'>): TemplateResult {
  return html`<div id="${name}-notes">
    ${fieldError(error)} ${!error && hint ? html`<div class="soft">${hint}</div>` : nothing}
  </div>`
}

/** An error about the form as a whole. Announced to screen readers when it appears. */
export function problemView(text: string): TemplateResult {
  return html`<div role="alert">
    ${text === '' ? nothing : html`<div class="callout"><dg-icon name="warning"></dg-icon><span>${text}</span></div>`}
  </div>`
}
