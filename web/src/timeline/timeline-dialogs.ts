import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../app/app.ts'
import type { Erasing } from '../app/erase-dialog.ts'
import type { SearchHit } from '../data/timeline.ts'
import '../app/erase-dialog.ts'
import type { RenderMarkdown } from '../design/markdown.ts'
import type { Moment } from './moment-dialog.ts'
import './moment-dialog.ts'
import type { TimelineActions } from './row-context.ts'
import './search-dialog.ts'
import './why-dialog.ts'

/** Which dialogs are open, and their callbacks. */
export type DialogsInput = {
  readonly app: App
  readonly actions: TimelineActions | null
  readonly markdown: RenderMarkdown | null
  readonly searching: boolean
  readonly erasing: Erasing | null
  readonly moment: Moment | null
  /** The turn whose reply is being explained. */
  readonly explained: string | null
  readonly onHit: (hit: SearchHit) => void
  readonly onClose: (dialog: 'searching' | 'erasing' | 'moment' | 'explained') => void
}

/** The dialogs of the timeline page. Each is created when first opened and then keeps its state. */
export function createTimelineDialogs(): (input: DialogsInput) => TemplateResult {
  const made = { searching: false, erasing: false, moment: false, explained: false }
  return (input) => {
    const { app, actions, markdown, searching, erasing, moment, explained, onHit, onClose } = input
    made.searching ||= searching
    made.erasing ||= erasing !== null
    made.moment ||= moment !== null
    made.explained ||= explained !== null
    return html`
      ${
        made.searching
          ? html`<dg-search-dialog
              .http=${app.http}
              .open=${searching}
              @close=${() => onClose('searching')}
              @hit=${(event: CustomEvent<SearchHit>) => onHit(event.detail)}
            ></dg-search-dialog>`
          : nothing
      }
      ${
        made.erasing
          ? html`<dg-erase-dialog
              .app=${app}
              .erasing=${erasing}
              @close=${() => onClose('erasing')}
            ></dg-erase-dialog>`
          : nothing
      }
      ${
        made.explained
          ? html`<dg-why-dialog
              .http=${app.http}
              .turnId=${explained}
              @close=${() => onClose('explained')}
            ></dg-why-dialog>`
          : nothing
      }
      ${
        made.moment
          ? html`<dg-moment-dialog
              .moment=${moment}
              .actions=${actions}
              .markdown=${markdown}
              @close=${() => onClose('moment')}
            ></dg-moment-dialog>`
          : nothing
      }
    `
  }
}
