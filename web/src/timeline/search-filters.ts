import { css, html, nothing, type TemplateResult } from 'lit'
import type { Channel, NamedPeriod } from '../../../src/http/contract/timeline.ts'
import { takeText } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { channelSigns } from './event-icons.ts'

export type SearchFilters = {
  readonly channel: Channel | null
  /** `days` is the range from `from` to `to`; an empty bound is open. */
  readonly period: NamedPeriod | 'any' | 'days'
  readonly from: string
  readonly to: string
}

export const noFilters: SearchFilters = { channel: null, period: 'any', from: '', to: '' }

/** Channels with searchable words, which leaves out `system`. */
const channels = ['chat', 'voice', 'sms', 'inner'] as const

const periods: readonly (readonly [SearchFilters['period'], name: string])[] = [
  ['any', msg`Any time`],
  ['today', msg`Today`],
  ['last_7_days', msg`Last 7 days`],
  ['last_30_days', msg`Last 30 days`],
  ['this_year', msg`This year`],
  ['days', msg`Custom range`],
]

/** The filters as parameters of the request. */
export function narrowingOf({ channel, period, from, to }: SearchFilters) {
  return {
    channel,
    ...(period === 'days'
      ? { from: from || null, to: to || null }
      : { period: period === 'any' ? null : period }),
  }
}

export const filterStyles = css`
  .filters {
    display: grid;
    grid-template-columns: repeat(2, minmax(0, 1fr));
    gap: var(--space-2);
    margin-top: var(--space-2);
  }
  .filters .input {
    min-width: 0;
  }
`

/** The filter controls. `onChange` gets all filters. */
export function filtersView(
  filters: SearchFilters,
  onChange: (filters: SearchFilters) => void,
): TemplateResult {
  const { period, from, to } = filters
  const isReversed = period === 'days' && from !== '' && to !== '' && from > to
  const dayView = (name: 'from' | 'to', label: string) => html`<div class="field">
    <label for=${name}>${label}</label>
    <input
      class="input small"
      id=${name}
      type="date"
      max="9999-12-31"
      aria-invalid=${isReversed}
      aria-describedby=${isReversed ? 'reversed' : nothing}
      .value=${filters[name]}
      @input=${takeText((text) => onChange({ ...filters, [name]: text }))}
    />
  </div>`
  return html`<div class="filters" role="group" aria-label=${msg`Filters`}>
    ${selectView(
      msg`Channel`,
      [['', msg`Any channel`], ...channels.map((name) => [name, channelSigns[name].name] as const)],
      filters.channel ?? '',
      (chosen) => onChange({ ...filters, channel: channels.find((name) => name === chosen) ?? null }),
    )}
    ${selectView(msg`Period`, periods, period, (chosen) =>
      onChange({ ...filters, period: periods.find(([name]) => name === chosen)?.[0] ?? 'any' }),
    )}
    ${period === 'days' ? [dayView('from', msg`From`), dayView('to', msg`To`)] : nothing}
    ${
      isReversed
        ? html`<p class="field-error" id="reversed" role="alert">${msg`The start date is after the end date.`}</p>`
        : nothing
    }
  </div>`
}

function selectView(
  label: string,
  choices: readonly (readonly [value: string, text: string])[],
  chosen: string,
  onChoice: (value: string) => void,
): TemplateResult {
  return html`<select class="input small" aria-label=${label} @change=${takeText(onChoice)}>
    ${choices.map(([value, text]) => html`<option value=${value} .selected=${value === chosen}>${text}</option>`)}
  </select>`
}
