import { css, html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { DialogElement } from '../app/dialog-element.ts'
import { shortDateText } from '../design/format.ts'
import type { RenderMarkdown } from '../design/markdown.ts'
import type { TimelineActions } from './timeline-actions.ts'
import { timelineTree } from './tree.ts'
import './timeline-view.ts'
import { msg } from '../design/msg.ts'
import type { DgTimeline } from './timeline-view.ts'

/** One old exchange, for a search hit too far back to scroll to. */
@customElement('dg-moment-dialog')
export class DgMomentDialog extends DialogElement {
  static override readonly styles = css`
    dg-timeline {
      height: min(34rem, 65dvh);
      margin: 0 calc(-1 * var(--space-5));
    }
  `
  /** The entry to show, and when it happened. */
  @property({ attribute: false }) seq!: number
  @property({ attribute: false }) at!: string
  @property({ attribute: false }) events!: readonly TimelineEvent[]
  @property({ attribute: false }) actions!: TimelineActions
  @property({ attribute: false }) markdown!: RenderMarkdown

  protected override async firstUpdated(): Promise<void> {
    const timeline = this.renderRoot.querySelector<DgTimeline>('dg-timeline')
    await timeline?.updateComplete
    await timeline?.reveal(this.seq)
  }

  override render() {
    return html`<dg-dialog wide heading=${shortDateText(this.at)}>
      <dg-timeline
        name=${msg`Timeline of that day`}
        .segments=${timelineTree(this.events)}
        .actions=${this.actions}
        .markdown=${this.markdown}
      ></dg-timeline>
    </dg-dialog>`
  }
}
