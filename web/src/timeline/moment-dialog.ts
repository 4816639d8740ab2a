import { css, html, LitElement, nothing, type PropertyValues } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { SearchHit, TimelineEvent } from '../data/timeline.ts'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { shortDateText } from '../design/format.ts'
import type { RenderMarkdown } from '../design/markdown.ts'
import type { TimelineActions } from './row-context.ts'
import { type Segment, timelineTree } from './tree.ts'
import './timeline-view.ts'

export type Moment = {
  readonly hit: Pick<SearchHit, 'seq' | 'at'>
  readonly events: readonly TimelineEvent[]
}

/** One old exchange, for a search hit too far back to scroll to. */
@customElement('dg-moment-dialog')
export class DgMomentDialog extends LitElement {
  static override readonly styles = [
    controls,
    css`
      dg-timeline {
        height: min(34rem, 65dvh);
        margin: 0 calc(-1 * var(--space-5));
      }
    `,
  ]
  @property({ attribute: false }) moment: Moment | null = null
  @property({ attribute: false }) actions!: TimelineActions
  @property({ attribute: false }) markdown!: RenderMarkdown
  private segments: readonly Segment[] = []

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('moment')) this.segments = timelineTree(this.moment?.events ?? [])
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has('moment') && this.moment) void this.reveal(this.moment.hit.seq)
  }

  private async reveal(seq: number): Promise<void> {
    const timeline = this.renderRoot.querySelector('dg-timeline')
    await timeline?.updateComplete
    await timeline?.reveal(seq)
  }

  override render() {
    const { moment } = this
    return html`<dg-dialog
      wide
      heading=${moment ? shortDateText(moment.hit.at) : ''}
      .open=${moment !== null}
      @close=${() => this.dispatchEvent(new Event('close'))}
    >
      ${
        moment
          ? html`<dg-timeline
              .segments=${this.segments}
              .actions=${this.actions}
              .markdown=${this.markdown}
            ></dg-timeline>`
          : nothing
      }
    </dg-dialog>`
  }
}
