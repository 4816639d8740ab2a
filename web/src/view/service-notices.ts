import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { whenIdle } from '../app/platform.ts'
import { type Check, fetchChecks, reportedChecks } from '../data/health.ts'
import type { Http } from '../data/http.ts'
import { fetchHeldSince, fetchWaitingTexts, type WaitingTexts } from '../data/service.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'
import { delayText } from './delay-words.ts'
import { plural, shortDateText, timeText } from './format.ts'
import { checkText } from './health-words.ts'

const lookEveryMs = 60_000

/**
 * What concerns every page and is on none of them: that outgoing work waits for the owner's word, and which checks of
 * the service fail, with what to do.
 */
export class DgServiceNotices extends LitElement {
  static override readonly properties = {
    http: { attribute: false },
    path: {},
    heldSince: { state: true },
    checks: { state: true },
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
  declare private checks: readonly Check[]
  declare private texts: WaitingTexts | null
  private ends: (() => void)[] = []

  constructor() {
    super()
    this.path = ''
    this.heldSince = null
    this.checks = []
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
    const isTold = this.heldSince !== null || this.texts !== null || this.checks.some(({ ok }) => !ok)
    if (changed.has('path') && this.hasUpdated && isTold) void this.look()
  }

  private async look(): Promise<void> {
    if (!this.isConnected || document.visibilityState === 'hidden') return
    try {
      this.checks = await fetchChecks(this.http)
      this.heldSince = await fetchHeldSince(this.http)
      this.texts = await fetchWaitingTexts(this.http)
    } catch {
      // Where nothing answers, each page says so itself; what was true a minute ago may be true still.
    }
  }

  override render() {
    return html`<div role="status">${this.checksView()}${this.heldView()}${this.textsView()}</div>`
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

  private checksView() {
    if (this.path === '/operations') return nothing
    const failing = this.checks.filter(({ ok }) => !ok)
    const needed = failing.find(({ name }) => !reportedChecks.has(name))
    // What is wrong with the first may be why the others fail. A model's failure is on the timeline as well.
    const isToldOtherwise = { model: this.path === '/', telephony: this.texts !== null }
    const told = needed
      ? [needed]
      : failing.filter(({ name }) => (name !== 'model' && name !== 'telephony') || !isToldOtherwise[name])
    return told.map(
      (check) => html`<p>
        <dg-icon name="warning"></dg-icon>
        <span>
          ${checkText(check)}<span class="why">${
            check.name === 'projections' ? ' What you say is kept all the same.' : ''
          }</span> <a href="/operations">See Health in Operations</a>
        </span>
      </p>`,
    )
  }
}

customElements.define('dg-service-notices', DgServiceNotices)
