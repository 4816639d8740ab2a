import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { OperationsReport, OperationsSeries } from '../../../src/http/contract/operations.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { locale, msg } from '../design/msg.ts'
import { areaStyles } from './area-styles.ts'
import './backups-view.ts'
import type { Course } from './course-chart.ts'
import './health-view.ts'
import './money-view.ts'
import { countText, shortDateText } from '../design/format.ts'
import { type Area, areas, type ChartLine, type Figure } from './operation-areas.ts'

// Its library fails where the language of the browser is no language tag, as with LANG=C. The figures do without it.
import('./course-chart.ts').catch(() => undefined)

/** The period that each point of a chart covers. */
const grains = { minute: msg`by minute`, hour: msg`by hour`, day: msg`by day` } as const

const windows = [
  { hours: 1, label: '1 h', name: msg`the last hour` },
  { hours: 6, label: '6 h', name: msg`the last 6 hours` },
  { hours: 24, label: '24 h', name: msg`the last 24 hours` },
  { hours: 168, label: '7 d', name: msg`the last 7 days` },
  { hours: 720, label: '30 d', name: msg`the last 30 days` },
] as const

const refreshMs = 30_000
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })

/** The operations report: figures and charts for context, delivery, paging, memory and model. */
@customElement('dg-operations-page')
export class DgOperationsPage extends AppElement {
  static override readonly styles = [
    areaStyles,
    css`
      section > header {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 0 var(--space-3);
        margin-bottom: var(--space-3);
      }
      .scope {
        margin-inline-start: auto;
      }
      .intro {
        flex-basis: 100%;
      }
      dg-course-chart {
        margin-top: var(--space-5);
      }
      dt {
        font-size: var(--text-sm);
        font-weight: 550;
      }
      .value {
        order: -1;
        font-size: var(--text-xl);
        font-weight: 600;
        font-variant-numeric: tabular-nums;
        line-height: 1.3;
      }
      .quiet {
        margin-top: var(--space-4);
        color: var(--ink-faint);
        font-size: var(--text-sm);
      }
      .when {
        margin-bottom: var(--space-4);
      }
      @media (max-width: 40rem) {
        dl {
          grid-template-columns: repeat(2, minmax(0, 1fr));
          gap: var(--space-4);
        }
      }
    `,
  ]
  @state() private hours = 24
  private readonly loaded = new Loaded(this, {
    fetch: () =>
      Promise.all([
        this.app.http.get('/api/session/operations', { query: { hours: this.hours } }),
        this.app.http.get('/api/session/operations/series', { query: { hours: this.hours } }),
      ]),
    againMs: () => refreshMs,
  })

  private choose(hours: number): void {
    this.hours = hours
    void this.loaded.reload()
  }

  override render() {
    return html`<dg-page heading=${msg`Operations`}>
      <div slot="tools" class="actions" role="group" aria-label=${msg`Window`}>
        ${windows.map(
          ({ hours, label, name }) => html`<button
            class="button small"
            aria-pressed=${hours === this.hours}
            aria-label="${label}: ${name}"
            @click=${() => this.choose(hours)}
          >
            ${label}
          </button>`,
        )}
      </div>
      <dg-health .app=${this.app}></dg-health>
      <dg-backups .app=${this.app}></dg-backups>
      <dg-money .app=${this.app} .hours=${this.hours}></dg-money>
      ${loadedView(this.loaded, msg`the report`, ([report, series]) => this.reportView(report, series))}
    </dg-page>`
  }

  private reportView(report: OperationsReport, series: OperationsSeries): TemplateResult {
    return html`
      <p class="facts when">
        <span>${msg`${shortDateText(report.window.from)} to ${shortDateText(report.window.to)}`}</span>
        <span>${msg`Counts only, no message text.`}</span>
      </p>
      ${areas.map((area) => this.areaView(area, report, series))}
    `
  }

  private areaView(area: Area, report: OperationsReport, series: OperationsSeries): TemplateResult {
    const id = `area-${area.heading.toLowerCase().replaceAll(' ', '-')}`
    return html`<section class="card" aria-labelledby=${id}>
      <header>
        <h2 id=${id}>${area.heading}</h2>
        <span class="scope soft">
          ${area.scope === 'window' ? grains[series.grain] : msg`since ${shortDateText(report.timelinePaging.since)}, when Delegate started`}
        </span>
        <p class="intro soft">${area.intro}</p>
      </header>
      <dl>
        ${area.figures(report).map(figureView)}
      </dl>
      ${area.charts.map(([title, lines]) => this.chartView(title, lines, series))}
    </section>`
  }

  private chartView(title: string, lines: readonly ChartLine[], series: OperationsSeries): TemplateResult {
    const courses = lines.map(
      ([metric, label, tone]): Course => ({
        label,
        tone,
        values: series.points.map(({ counts }) => counts[metric] ?? 0),
      }),
    )
    if (courses.every(({ values }) => values.every((value) => value === 0))) {
      return html`<p class="quiet">${msg`${title}: no data in this window.`}</p>`
    }
    return html`<dg-course-chart
      heading=${title}
      .times=${series.points.map(({ at }) => at)}
      .courses=${courses}
    ></dg-course-chart>`
  }
}

function figureView([name, value, meaning, as]: Figure): TemplateResult {
  const text = value === null ? '–' : as === 'rate' ? percent.format(value) : countText(value)
  return html`<div>
    <dt>${name}</dt>
    <dd class="value" title=${value === null ? msg`No data in this window` : nothing}>${text}</dd>
    <dd class="soft">${meaning}</dd>
  </div>`
}
