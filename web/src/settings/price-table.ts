import { html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { Setting } from '../../../src/http/contract/settings.ts'
import type { Spending } from '../../../src/http/contract/spending.ts'
import { LightElement } from '../app/light-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { fieldError, takeText, withPoint } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { originView } from './origin.ts'
import { priceTableStyles } from './price-table-styles.ts'

type PriceField = (typeof fields)[number][0]
/** A price; text that is none is kept until the service refuses it. */
type Price = number | string | undefined
type ModelPrice = Partial<Record<PriceField, Price>>
/** The prices that differ from the built-in list, as the setting holds them. */
type Changes = Partial<Record<(typeof telephony)[number][0], Price>> & {
  models?: Record<string, ModelPrice>
}

const telephony = [
  ['callMinute', msg`Call minute`],
  ['relayMinute', msg`Relay, added per minute`],
  ['textSegment', msg`Text segment`],
] as const

const fields = [
  ['input', msg`Input`],
  ['cachedInput', msg`Cached input`],
  ['output', msg`Output`],
  ['audioInput', msg`Audio input`],
  ['audioOutput', msg`Audio output`],
  ['minute', msg`Minute`],
] as const

/** The price table as a form, with a row for each model. Fires `edit` with the value of the setting, and `reset`. */
@customElement('dg-price-table')
export class DgPriceTable extends LightElement {
  protected override readonly sheets = [priceTableStyles]
  @property({ attribute: false }) setting!: Setting
  @property({ attribute: false }) draft: string | undefined
  @property({ attribute: false }) error: string | undefined
  private readonly loaded = new Loaded(this, {
    fetch: async () => (await this.app.http.get('/api/spending', { query: { days: 1 } })).prices,
    concerns: (type) => type === 'settings.changed',
  })

  protected override updated(changed: PropertyValues<this>): void {
    const before = changed.get('setting')
    if (before !== undefined && before.value !== this.setting.value) void this.loaded.reload()
  }

  private saved(): Changes {
    return JSON.parse(String(this.setting.value ?? '{}'))
  }

  private changes(): Changes {
    return this.draft === undefined ? this.saved() : JSON.parse(this.draft)
  }

  private edit(change: (changes: Changes) => void): void {
    const changes = this.changes()
    change(changes)
    const text = JSON.stringify(changes)
    const isNothing = text === '{}' && this.setting.value === null
    this.dispatchEvent(new CustomEvent('edit', { detail: isNothing ? '' : text }))
  }

  override render() {
    return html`<div
      class="setting prices ${this.draft === undefined ? '' : 'changed'}"
      id="PRICES"
      role="group"
      aria-label=${msg`Prices`}
      tabindex="-1"
    >
      <div>
        <p class="actions name">${msg`Prices`}</p>
        <p class="soft">${msg`US dollars for a million tokens, or for a minute of audio. A model that costs nothing has 0.`}</p>
        ${this.originView()}
      </div>
      ${loadedView(this.loaded, msg`the prices`, (prices) => this.tableView(prices))}
    </div>`
  }

  private originView(): TemplateResult {
    const { source } = this.setting
    const text = source === 'unset' ? msg`Built-in list` : msg`Changed`
    const reset = { label: msg`Reset Prices`, run: () => this.dispatchEvent(new Event('reset')) }
    return source === 'stored'
      ? originView([[text, 'on']], ['PRICES'], reset)
      : originView([[text]], ['PRICES'], null)
  }

  private tableView(prices: Spending['prices']): TemplateResult {
    const changes = this.changes()
    const saved = this.saved()
    return html`<ul class="list models">
      ${prices.models.map((row) => this.modelView(row, changes, saved))}
      <li>
        <p class="actions name">${msg`Telephony`}</p>
        <div class="cells">
          ${telephony.map(([field, label]) =>
            this.cellView({
              id: field,
              label,
              value: changes[field] ?? (saved[field] === undefined ? prices[field] : undefined),
              wrong: isWrong(changes[field]),
              take: (value) => this.edit((edited) => assign(edited, field, value)),
            }),
          )}
        </div>
        ${telephony.some(([field]) => isWrong(changes[field])) ? fieldError(this.error) : nothing}
      </li>
    </ul>`
  }

  /** A model of the built-in list has the fields that matter for it, any other has all of them. */
  private modelView(
    { model, inUse, listed, price }: Spending['prices']['models'][number],
    changes: Changes,
    saved: Changes,
  ): TemplateResult {
    // What applies without the change. A model on this machine is free, but a saved price hides that.
    const usual: ModelPrice = (saved.models?.[model] ? listed : price) ?? {}
    const changed = changes.models?.[model]
    const shown = changed ?? usual
    const isWrongHere = (field: PriceField) =>
      changed !== undefined && (isWrong(changed[field]) || isMissing(changed, field))
    const take = (field: PriceField, value = usual[field]) =>
      this.edit((edited) => {
        const own = { ...shown }
        assign(own, field, value)
        const { [model]: _, ...others } = edited.models ?? {}
        const isUsual = fields.every(([each]) => own[each] === usual[each])
        const models = isUsual ? others : { ...others, [model]: own }
        assign(edited, 'models', Object.keys(models).length === 0 ? undefined : models)
      })
    return html`<li>
      <p class="actions name">
        <span>${model}</span>
        ${inUse ? html`<span class="tag on">${msg`selected`}</span>` : nothing}
        ${price === null ? html`<span class="tag restart">${msg`price unknown`}</span>` : nothing}
      </p>
      <div class="cells">
        ${fields
          .filter(([field]) => listed === null || (listed[field] ?? price?.[field]) !== undefined)
          .map(([field, label]) =>
            this.cellView({
              id: `${model}-${field}`,
              label,
              value: shown[field],
              usual: usual[field],
              wrong: isWrongHere(field),
              take: (value) => take(field, value),
            }),
          )}
      </div>
      ${fields.some(([field]) => isWrongHere(field)) ? fieldError(this.error) : nothing}
    </li>`
  }

  private cellView(cell: {
    readonly id: string
    readonly label: string
    readonly value: Price
    /** What applies while the field is empty. */
    readonly usual?: Price
    readonly wrong: boolean
    readonly take: (value: Price) => void
  }): TemplateResult {
    const { id, label, value, usual, wrong, take } = cell
    return html`<div>
      <label class="soft" for=${id}>${label}</label>
      <input
        class="input small"
        id=${id}
        name=${wrong ? 'PRICES' : id}
        aria-invalid=${wrong && this.error !== undefined}
        inputmode="decimal"
        autocomplete="off"
        placeholder=${usual ?? msg`not set`}
        .value=${value === undefined ? '' : String(value)}
        @change=${takeText((text) => take(priceIn(text)))}
      />
    </div>`
  }
}

/** The price that is typed. Also in English, "1,5" can only be a decimal comma, but "1,000" may be either. */
function priceIn(text: string): Price {
  const typed = text.trim()
  if (typed === '') return undefined
  const price = Number(withPoint(typed).replace(/,(\d{1,2})$/, '.$1'))
  return Number.isFinite(price) ? price : typed
}

const isWrong = (price: Price): boolean =>
  price !== undefined && (typeof price === 'string' || price < 0 || price > 10_000)

/** Only a model that is paid by the minute may have no token prices. */
const isMissing = (price: ModelPrice, field: PriceField): boolean =>
  (field === 'input' || field === 'output') &&
  price[field] === undefined &&
  ((price.input ?? price.output) !== undefined || price.minute === undefined)

/** Sets a field, or removes it. */
function assign<T extends object, K extends keyof T>(target: T, field: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[field]
  else target[field] = value
}
