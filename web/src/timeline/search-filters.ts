import { css, html, nothing, type TemplateResult } from 'lit'
import type { Channel, NamedPeriod, SearchNarrowing } from '../data/timeline.ts'
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

const periods: readonly (readonly [SearchFilters['period'], string])[] = [
  ['any', 'Any time'],
  ['today', 'Today'],
  ['last_7_days', 'Last 7 days'],
  ['last_30_days', 'Last 30 days'],
  ['this_year', 'This year'],
  ['days', 'Custom range'],
]

/** The filters as parameters of the request. */
export function narrowingOf({ channel, period, from, to }: SearchFilters): SearchNarrowing {
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
  return [where === undefined ? '' : channelWords[where], periodWords(period, from, to)]
    .filter((words) => words !== '')
    .join(', ')
}

function periodWords(period: SearchFilters['period'], from: string, to: string): string {
  switch (period) {
    case 'any':
      return ''
    case 'today':
      return 'today'
    case 'last_7_days':
      return 'in the last 7 days'
    case 'last_30_days':
      return 'in the last 30 days'
    case 'this_year':
      return 'this year'
    case 'days':
      return [from === '' ? '' : `from ${dateText(from)}`, to === '' ? '' : `to ${dateText(to)}`]
        .filter((words) => words !== '')
        .join(' ')
  }
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
    min-height: 2.25rem;
    font-size: var(--text-md);
  }
  .filters .error {
    grid-column: 1 / -1;
    color: var(--danger);
    font-size: var(--text-sm);
  }
  @media (pointer: coarse) {
    .filters .input {
      min-height: 2.75rem;
      font-size: 1rem;
    }
  }
`

/** The filter controls. `onChange` gets all filters. */
export function filtersView(
  filters: SearchFilters,
  onChange: (filters: SearchFilters) => void,
): TemplateResult {
  const chooseChannel = ({ target }: Event): void => {
    if (!(target instanceof HTMLSelectElement)) return
    onChange({ ...filters, channel: channels.find((name) => name === target.value) ?? null })
  }
  const choosePeriod = ({ target }: Event): void => {
    if (!(target instanceof HTMLSelectElement)) return
    onChange({ ...filters, period: periods.find(([name]) => name === target.value)?.[0] ?? 'any' })
  }
  const isReversed = isBackwards(filters)
  const dayView = (name: 'from' | 'to', label: string) => html`<div class="field">
    <label for=${name}>${label}</label>
    <input
      class="input"
      id=${name}
      type="date"
      max="9999-12-31"
      aria-invalid=${isReversed}
      aria-describedby=${isReversed ? 'reversed' : nothing}
      .value=${filters[name]}
      @input=${({ target }: Event) => {
        if (target instanceof HTMLInputElement) onChange({ ...filters, [name]: target.value })
      }}
    />
  </div>`
  return html`<div class="filters" role="group" aria-label="Filters">
    <label>
      <span class="visually-hidden">Channel</span>
      <select class="input" @change=${chooseChannel}>
        <option value="" .selected=${filters.channel === null}>Any channel</option>
        ${channels.map(
          (name) =>
            html`<option value=${name} .selected=${name === filters.channel}>${channelSigns[name].name}</option>`,
        )}
      </select>
    </label>
    <label>
      <span class="visually-hidden">Period</span>
      <select class="input" @change=${choosePeriod}>
        ${periods.map(
          ([name, label]) =>
            html`<option value=${name} .selected=${name === filters.period}>${label}</option>`,
        )}
      </select>
    </label>
    ${filters.period === 'days' ? [dayView('from', 'From'), dayView('to', 'To')] : nothing}
    ${
      isReversed
        ? html`<p class="error" id="reversed" role="alert">The start date is after the end date.</p>`
        : nothing
    }
  </div>`
}

function isBackwards({ period, from, to }: SearchFilters): boolean {
  return period === 'days' && from !== '' && to !== '' && from > to
}
