import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { whenIdle } from '../app/platform.ts'
import type { Http } from '../data/http.ts'
import {
  fetchFault,
  fetchHeldSince,
  fetchWaitingTexts,
  type ServiceFault,
  type WaitingTexts,
} from '../data/service.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'
import { delayText } from './delay-words.ts'
import { plural, shortDateText, timeText } from './format.ts'

const lookEveryMs = 60_000

/**
 * What concerns every page and is on none of them: that outgoing work waits for the owner's word, and that part of the
 * service stands still, so that what a page shows may be old.
 */
export class DgServiceNotices extends LitElement {
  static override readonly properties = {
    http: { attribute: false },
    path: {},
    heldSince: { state: true },
    fault: { state: true },
    texts: { state: true },
  }
  static override readonly styles = [
    controls,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      p {
        display: flex;
        gap: var(--space-2);
        margin: 0;
        padding: var(--space-2) var(--space-4);
        border-bottom: 1px solid var(--line);
        background: var(--warning-soft);
        font-size: var(--text-sm);
        line-height: 1.45;
      }
      dg-icon {
        flex: none;
        margin-top: 0.15em;
        color: var(--warning);
      }
      span {
        min-width: 0;
        overflow-wrap: anywhere;
      }
      a {
        color: inherit;
      }
      /* Zoomed in, or lying: what the page is for needs the room. */
      @media (max-height: 24rem) {
        p {
          padding-block: var(--space-1);
          line-height: 1.3;
        }
        .why {
          display: none;
        }
      }
    `,
  ]
  declare http: Http
  /** The page that is shown. */
  declare path: string
  declare private heldSince: string | null
  declare private fault: ServiceFault | null
  declare private texts: WaitingTexts | null
  private ends: (() => void)[] = []

  constructor() {
    super()
    this.path = ''
    this.heldSince = null
    this.fault = null
    this.texts = null
  }

  override connectedCallback(): void {
    super.connectedCallback()
    const timer = setInterval(() => void this.look(), lookEveryMs)
    const shown = () => void this.look()
    document.addEventListener('visibilitychange', shown)
    this.ends = [() => clearInterval(timer), () => document.removeEventListener('visibilitychange', shown)]
    whenIdle(() => void this.look())
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    for (const end of this.ends) end()
  }

  /** From page to page what was said may have been settled. */
  protected override willUpdate(changed: PropertyValues): void {
    const isTold = this.heldSince !== null || this.fault !== null || this.texts !== null
    if (changed.has('path') && this.hasUpdated && isTold) void this.look()
  }

  private async look(): Promise<void> {
    if (!this.isConnected || document.visibilityState === 'hidden') return
    try {
      const [heldSince, fault, texts] = await Promise.all([
        fetchHeldSince(this.http),
        fetchFault(this.http),
        fetchWaitingTexts(this.http),
      ])
      this.heldSince = heldSince
      this.fault = fault
      this.texts = texts
    } catch {
      // Where nothing answers, each page says so itself; what was true a minute ago may be true still.
    }
  }

  override render() {
    return html`<div role="status">${this.faultView()}${this.heldView()}${this.textsView()}</div>`
  }

  private heldView(): TemplateResult | typeof nothing {
    // There it is said at more length, with the button beside it.
    if (this.heldSince === null || this.path === '/settings') return nothing
    return html`<p>
      <dg-icon name="warning"></dg-icon>
      <span>
        No text, call or delivery goes out<span class="why">: this data came from a backup or an import
          (${shortDateText(this.heldSince)})</span>. <a href="/settings">Release outgoing work in Settings</a>
      </span>
    </p>`
  }

  private textsView(): TemplateResult | typeof nothing {
    // Where everything is held, that is the reason.
    if (this.texts === null || this.heldSince !== null) return nothing
    const { count, since, until, kind } = this.texts
    const isOne = count === 1
    return html`<p>
      <dg-icon name="warning"></dg-icon>
      <span>
        ${plural(count, 'text')} ${isOne ? 'has' : 'have'} been waiting since ${timeText(since)}: ${delayText(kind)}<span class="why">.
          ${isOne ? 'It is' : 'They are'} retried until ${shortDateText(until)}</span>.
        ${kind === 'credentials' ? html`<a href="/settings">Check them in Settings</a>` : nothing}
      </span>
    </p>`
  }

  private faultView(): TemplateResult | typeof nothing {
    if (this.fault === null) return nothing
    const { part, detail } = this.fault
    const [what, why] =
      part === 'projections'
        ? [
            'Some of what the pages show is out of date',
            '. What you say is kept all the same, and starting Delegate again may mend it',
          ]
        : ['Something is wrong with Delegate’s data', '']
    return html`<p>
      <dg-icon name="warning"></dg-icon>
      <span>
        ${what}${detail === '' ? '' : ` (${detail})`}<span class="why">${why}</span>. <a href="/logs">The log tells more</a>
      </span>
    </p>`
  }
}

customElements.define('dg-service-notices', DgServiceNotices)
