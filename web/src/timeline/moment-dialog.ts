import { css, html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { SearchHit, TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { controls } from '../design/controls.ts'
import { DialogElement } from '../design/dialog.ts'
import { shortDateText } from '../design/format.ts'
import type { RenderMarkdown } from '../design/markdown.ts'
import type { TimelineActions } from './row-context.ts'
import { timelineTree } from './tree.ts'
import './timeline-view.ts'

export type Moment = {
  readonly hit: Pick<SearchHit, 'seq' | 'at'>
  readonly events: readonly TimelineEvent[]
}

/** One old exchange, for a search hit too far back to scroll to. */
@customElement('dg-moment-dialog')
export class DgMomentDialog extends DialogElement {
  static override readonly styles = [
    controls,
    css`
      dg-timeline {
        height: min(34rem, 65dvh);
        margin: 0 calc(-1 * var(--space-5));
      }
    `,
  ]
  @property({ attribute: false }) moment!: Moment
  @property({ attribute: false }) actions!: TimelineActions
  @property({ attribute: false }) markdown!: RenderMarkdown

  protected override async firstUpdated(): Promise<void> {
    const timeline = this.renderRoot.querySelector('dg-timeline')
    await timeline?.updateComplete
    await timeline?.reveal(this.moment.hit.seq)
  }

  override render() {
    const { hit, events } = this.moment
    return html`<dg-dialog wide heading=${shortDateText(hit.at)}>
      <dg-timeline
        .segments=${timelineTree(events)}
        .actions=${this.actions}
        .markdown=${this.markdown}
      ></dg-timeline>
    </dg-dialog>`
  }
}
