import { css, html, nothing, type TemplateResult } from 'lit'
import type { Channel, NamedPeriod } from '../../../src/http/contract/timeline.ts'
import { takeText } from '../design/field.ts'
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

const channelWords: Readonly<Record<(typeof channels)[number], string>> = {
  chat: 'in the chat',
  voice: 'in phone calls',
  sms: 'in text messages',
  inner: 'in its own activity',
}

/** Each period with its name, and as the end of a sentence. */
const periods: readonly (readonly [SearchFilters['period'], name: string, words: string])[] = [
  ['any', 'Any time', ''],
  ['today', 'Today', 'today'],
  ['last_7_days', 'Last 7 days', 'in the last 7 days'],
  ['last_30_days', 'Last 30 days', 'in the last 30 days'],
  ['this_year', 'This year', 'this year'],
  ['days', 'Custom range', ''],
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

/** The active filters as the end of a sentence; empty if there are none. */
export function filterWords({ channel, period, from, to }: SearchFilters): string {
  const where = channels.find((each) => each === channel)
  const days = [from === '' ? '' : `from ${dateText(from)}`, to === '' ? '' : `to ${dateText(to)}`]
  const when = period === 'days' ? days : [periods.find(([name]) => name === period)?.[2] ?? '']
  return [where === undefined ? '' : channelWords[where], when.filter((words) => words !== '').join(' ')]
    .filter((words) => words !== '')
    .join(', ')
}

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const dateText = (day: string) => date.format(new Date(`${day}T00:00:00Z`))

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
  const isReversed = isBackwards(filters)
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
  return html`<div class="filters" role="group" aria-label="Filters">
    ${selectView(
      'Channel',
      [['', 'Any channel'], ...channels.map((name) => [name, channelSigns[name].name] as const)],
      filters.channel ?? '',
      (chosen) => onChange({ ...filters, channel: channels.find((name) => name === chosen) ?? null }),
    )}
    ${selectView('Period', periods, filters.period, (chosen) =>
      onChange({ ...filters, period: periods.find(([name]) => name === chosen)?.[0] ?? 'any' }),
    )}
    ${filters.period === 'days' ? [dayView('from', 'From'), dayView('to', 'To')] : nothing}
    ${
      isReversed
        ? html`<p class="field-error" id="reversed" role="alert">The start date is after the end date.</p>`
        : nothing
    }
  </div>`
}

function selectView(
  label: string,
  choices: readonly (readonly [value: string, text: string, ...rest: string[]])[],
  chosen: string,
  onChoice: (value: string) => void,
): TemplateResult {
  return html`<select class="input small" aria-label=${label} @change=${takeText(onChoice)}>
    ${choices.map(([value, text]) => html`<option value=${value} .selected=${value === chosen}>${text}</option>`)}
  </select>`
}

function isBackwards({ period, from, to }: SearchFilters): boolean {
  return period === 'days' && from !== '' && to !== '' && from > to
}
