import { css, html, LitElement, type PropertyValues, unsafeCSS } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import uPlot from 'uplot'
import uPlotStyles from 'uplot/dist/uPlot.min.css?inline'
import { countText, shortDateText } from '../design/format.ts'
import { locale, msg } from '../design/msg.ts'
import { ownerFormat, ownerZone } from '../design/owner-time.ts'
import { whileConnected } from '../design/while-connected.ts'
import type { Tone } from './operation-areas.ts'

export type Course = { readonly label: string; readonly tone: Tone; readonly values: readonly number[] }

const heightPx = 168
const clockText = ownerFormat({ hour: '2-digit', minute: '2-digit' })
const dateText = ownerFormat({ day: 'numeric', month: 'short' })
/** Midnight is labelled with the date. */
const axisText = (at: Date) => (clockText(at) === '00:00' ? dateText(at) : clockText(at))
/** Distances between the labels of counts. */
const wholeSteps = [1, 2, 5, ...[1, 2, 3, 4, 5, 6, 7, 8].flatMap((e) => [10 ** e, 2 * 10 ** e, 5 * 10 ** e])]
const compact = new Intl.NumberFormat(locale, { notation: 'compact' })

/** A line chart of counts over time, in the colours of the current theme. */
@customElement('dg-course-chart')
export class DgCourseChart extends LitElement {
  static override readonly styles = [
    unsafeCSS(uPlotStyles),
    css`
      :host {
        display: block;
        min-width: 0;
      }
      figure {
        margin: 0;
      }
      figcaption {
        margin-bottom: var(--space-1);
        color: var(--ink-soft);
        font-size: var(--text-sm);
        font-weight: 550;
      }
      .tones {
        display: none;
      }
      .accent {
        color: var(--accent);
      }
      .success {
        color: var(--success);
      }
      .danger {
        color: var(--danger);
      }
      .faint {
        color: var(--line-strong);
      }
      .ink {
        color: var(--ink-soft);
      }
      .grid {
        color: var(--line);
      }
      @media (forced-colors: active) {
        .tones,
        .u-marker {
          forced-color-adjust: none;
        }
        .accent {
          color: LinkText;
        }
        .success,
        .ink {
          color: CanvasText;
        }
        .danger {
          color: GrayText;
        }
        .faint {
          color: Highlight;
        }
        .grid {
          color: color-mix(in srgb, CanvasText 20%, Canvas);
        }
      }
      .uplot,
      .uplot * {
        font-family: var(--font);
      }
      .u-legend {
        margin: 0;
        color: var(--ink-soft);
        font-size: var(--text-xs);
        text-align: start;
      }
      .u-legend .u-marker {
        border-radius: 50%;
      }
      .u-legend .u-series:first-child th {
        padding-inline-start: 0;
      }
      .u-cursor-x {
        border-color: var(--line-strong);
      }
    `,
  ]
  @property() heading = ''
  /** Start of each bucket, ISO 8601. */
  @property({ attribute: false }) times: readonly string[] = []
  @property({ attribute: false }) courses: readonly Course[] = []
  private plot: uPlot | null = null

  constructor() {
    super()
    whileConnected(this, (signal) => {
      const resized = new ResizeObserver(() =>
        this.plot?.setSize({ width: this.widthPx(), height: heightPx }),
      )
      const themed = new MutationObserver(this.draw)
      resized.observe(this)
      themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.draw, { signal })
      signal.addEventListener('abort', () => {
        resized.disconnect()
        themed.disconnect()
        this.plot?.destroy()
        this.plot = null
      })
    })
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.size > 0) this.draw()
  }

  private widthPx(): number {
    return Math.max(200, Math.floor(this.getBoundingClientRect().width))
  }

  /** A design colour with `light-dark()` resolved, because a canvas cannot resolve it. */
  private colour(tone: string): string {
    const sample = this.renderRoot.querySelector(`.tones .${tone}`)
    return sample ? getComputedStyle(sample).color : 'gray'
  }

  private readonly draw = (): void => {
    const target = this.renderRoot.querySelector<HTMLElement>('.plot')
    if (!target) return
    this.plot?.destroy()
    const times = this.times.map((at) => Date.parse(at) / 1000)
    // An extra point closes the last bucket, which is as wide as the one before.
    const [last = 0, previous = last] = times.toReversed()
    const newest = times.length - 1
    times.push(last + (last - previous))
    const counts = this.courses.map(({ values }) => [...values, values.at(-1) ?? 0])
    this.plot = new uPlot(this.options(newest), [times, ...counts], target)
    if (newest >= 0) this.plot.setLegend({ idx: newest }, false)
  }

  /** `newest` is the index of the last bucket. */
  private options(newest: number): uPlot.Options {
    const grid = { stroke: this.colour('grid'), width: 1 }
    const axis = { stroke: this.colour('ink'), grid, ticks: grid, size: 48 }
    return {
      width: this.widthPx(),
      height: heightPx,
      // Room on the right for half of the last label.
      padding: [8, 28, 0, 0],
      cursor: {
        y: false,
        drag: { x: false, y: false },
        // The extra point selects the last bucket.
        dataIdx: (_plot, _series, index) => Math.min(index, newest),
      },
      hooks: {
        // Without a pointer, the legend shows the newest bucket.
        setLegend: [
          (plot) => {
            if (newest >= 0 && plot.legend.idx == null) plot.setLegend({ idx: newest }, false)
          },
        ],
      },
      tzDate: (at) => uPlot.tzDate(new Date(at * 1000), ownerZone()),
      scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.05)] } },
      axes: [
        { ...axis, values: (_plot, splits) => splits.map((at) => axisText(new Date(at * 1000))) },
        {
          ...axis,
          incrs: wholeSteps,
          values: (_plot, splits) => splits.map((split) => compact.format(split)),
        },
      ],
      series: [
        {
          label: msg`From`,
          value: (_plot, at) => (at === null ? '' : shortDateText(new Date(at * 1000).toISOString())),
        },
        ...this.courses.map((course) => this.series(course)),
      ],
    }
  }

  private series({ label, tone }: Course): uPlot.Series {
    const paths = uPlot.paths.stepped?.({ align: 1 })
    return {
      label,
      stroke: this.colour(tone),
      width: 1.75,
      points: { show: false },
      value: (_plot, count) => (count === null ? '' : countText(count)),
      ...(paths ? { paths } : {}),
    }
  }

  /** Text alternative for the chart. */
  private summary(): string {
    const sums = this.courses.map(({ label, values }) => {
      const total = values.reduce((sum, value) => sum + value, 0)
      const most = Math.max(0, ...values)
      const at = this.times[values.indexOf(most)]
      const peak =
        most === 0 || at === undefined ? '' : msg`, peak ${countText(most)} from ${shortDateText(at)}`
      return `${label}: ${countText(total)}${peak}`
    })
    return `${this.heading}. ${sums.join('. ')}.`
  }

  override render() {
    return html`<figure>
      <figcaption>${this.heading}</figcaption>
      <div class="plot" role="img" aria-label=${this.summary()}></div>
      <span class="tones">
        ${['accent', 'success', 'danger', 'faint', 'ink', 'grid'].map((tone) => html`<i class=${tone}></i>`)}
      </span>
    </figure>`
  }
}
