import { css, html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { Spending } from '../../../src/http/contract/spending.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { barView } from '../design/bar.ts'
import { capitalised, dollarsText } from '../design/format.ts'
import { locale, msg } from '../design/msg.ts'
import { areaStyles } from './area-styles.ts'

const windowNames = { day: msg`the last 24 hours`, month: msg`the last 30 days` } as const
const withinWindow = { day: msg`in the last 24 hours`, month: msg`in the last 30 days` } as const
const purposeNames: Readonly<Record<string, string>> = {
  reply: msg`Replies`,
  guest: msg`Strangers`,
  activation: msg`Acting on its own`,
  learning: msg`Learning`,
  recall: msg`Recalling memories`,
  compaction: msg`Summaries`,
  embedding: msg`Search by meaning`,
  speech: msg`Speech`,
  call: msg`Phone calls`,
  text: msg`Text messages`,
}
const channelNames: Readonly<Record<string, string>> = {
  chat: msg`Chat`,
  voice: msg`Phone`,
  sms: msg`Text messages`,
  inner: msg`In the background`,
  system: msg`Other`,
}
const refreshMs = 30_000
/** A date without a time, which has no time zone. */
const dateText = new Intl.DateTimeFormat(locale, {
  timeZone: 'UTC',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
})

/** What was spent against the allowance, and on what. */
@customElement('dg-money')
export class DgMoney extends AppElement {
  static override readonly styles = [
    areaStyles,
    css`
      .windows,
      .tables {
        display: grid;
        align-items: start;
        grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr));
        gap: var(--space-4) var(--space-6);
      }
      .amount {
        font-size: var(--text-xl);
        font-weight: 600;
        font-variant-numeric: tabular-nums;
      }
      .tables {
        margin-top: var(--space-5);
      }
      table {
        width: 100%;
        border-collapse: collapse;
        font-size: var(--text-sm);
      }
      caption {
        padding-bottom: var(--space-1);
        color: var(--ink-soft);
        font-weight: 550;
        text-align: start;
      }
      th {
        font-weight: 400;
        text-align: start;
        white-space: nowrap;
      }
      td {
        padding: 0.2rem 0;
        font-variant-numeric: tabular-nums;
      }
      td:nth-child(2) {
        width: 40%;
        padding-inline: var(--space-3);
      }
      td:last-child {
        text-align: end;
        white-space: nowrap;
      }
    `,
  ]
  @property({ type: Number }) hours = 24
  private readonly loaded = new Loaded(this, {
    fetch: () => this.app.http.get('/api/spending', { query: { days: this.days() } }),
    concerns: (type) => type === 'spend.settled' || type.startsWith('allowance.'),
    againMs: () => refreshMs,
  })

  private days(): number {
    return Math.max(1, Math.ceil(this.hours / 24))
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.get('hours') !== undefined) void this.loaded.reload()
  }

  private readonly allowMore = (): void =>
    void this.app.attempt(async () => {
      this.loaded.put(await this.app.http.post('/api/allowance/raise', { body: { amountMicros: 5_000_000 } }))
      this.app.toast(msg`Allowed another $5 for 24 hours.`)
    })

  override render() {
    return html`<section class="card" aria-labelledby="money">
      <h2 id="money">${msg`Money`}</h2>
      <p class="intro soft">${msg`Model requests, calls and texts, by the prices in Settings.`}</p>
      ${loadedView(this.loaded, msg`the money`, (spending) => this.moneyView(spending))}
    </section>`
  }

  private moneyView({ windows, reservedMicros, days, purposes, channels }: Spending): TemplateResult {
    const isTight = windows.some(({ spentMicros, limitMicros }) => spentMicros >= limitMicros * 0.8)
    const period = days.length === 1 ? msg`today` : msg`the last ${days.length} days`
    return html`
      <div class="windows">${windows.map(windowView)}</div>
      ${
        purposes.length === 0
          ? html`<p class="soft foot">${days.length === 1 ? msg`Nothing was spent today.` : msg`Nothing was spent in the last ${days.length} days.`}</p>`
          : html`<div class="tables">
              ${
                days.length > 1
                  ? tableView(msg`By day`, days.filter(({ micros }) => micros > 0).toReversed(), ({ date }) =>
                      dateText.format(new Date(date)),
                    )
                  : nothing
              }
              ${tableView(
                msg`By purpose, ${period}`,
                purposes,
                ({ name }) => purposeNames[name] ?? capitalised(name),
              )}
              ${tableView(
                msg`By channel, ${period}`,
                channels,
                ({ name }) => channelNames[name] ?? capitalised(name),
              )}
            </div>`
      }
      <div class="foot">
        ${reservedMicros > 0 ? html`<span class="soft">${msg`${dollarsText(reservedMicros)} of it reserved`}</span>` : nothing}
        ${isTight ? html`<button class="button small" @click=${this.allowMore}>${msg`Allow another $5 for 24 hours`}</button>` : nothing}
        <a href="/settings#money">${msg`Change the allowance`}</a>
      </div>
    `
  }
}

function windowView({ window, spentMicros, limitMicros }: Spending['windows'][number]): TemplateResult {
  const percent = limitMicros === 0 ? 100 : Math.min(100, (spentMicros / limitMicros) * 100)
  return html`<div>
    <p><span class="amount">${dollarsText(spentMicros)}</span> ${msg`of ${dollarsText(limitMicros)}`}</p>
    ${barView(percent, msg`${Math.round(percent)} % of the allowance for ${windowNames[window]}`)}
    <p class="soft">${withinWindow[window]}</p>
  </div>`
}

function tableView<Row extends { readonly micros: number }>(
  caption: string,
  rows: readonly Row[],
  name: (row: Row) => string,
): TemplateResult {
  const most = Math.max(1, ...rows.map(({ micros }) => micros))
  return html`<table>
    <caption>${caption}</caption>
    <tbody>
      ${rows.map(
        (row) => html`<tr>
          <th scope="row">${name(row)}</th>
          <td aria-hidden="true">${barView((row.micros / most) * 100, '')}</td>
          <td>${dollarsText(row.micros)}</td>
        </tr>`,
      )}
    </tbody>
  </table>`
}
