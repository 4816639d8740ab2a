import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { WaitingTexts } from '../../../src/http/contract/outbound.ts'
import { type Check, fetchChecks, reportedChecks } from '../api/health.ts'
import type { Http } from '../api/routes.ts'
import { controls } from '../design/controls.ts'
import { plural, shortDateText, timeText } from '../design/format.ts'
import { whileConnected } from '../design/while-connected.ts'
import { checkText, delayText } from '../operations/health-words.ts'

const refreshMs = 60_000

/** Notices above every page: outgoing work on hold, delayed texts, and failing checks with what to do. */
@customElement('dg-service-notices')
export class DgServiceNotices extends LitElement {
  static override readonly styles = [
    controls,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      .callout {
        padding: var(--space-2) var(--space-4);
        border-bottom: 1px solid var(--line);
        border-radius: 0;
        line-height: 1.45;
      }
      span {
        min-width: 0;
        overflow-wrap: anywhere;
      }
      a {
        color: inherit;
      }
      /* On a short viewport (zoomed in, or a phone in landscape) the page needs the room. */
      @media (max-height: 24rem) {
        .callout {
          padding-block: var(--space-1);
          line-height: 1.3;
        }
        .why {
          display: none;
        }
      }
    `,
  ]
  @property({ attribute: false }) http!: Http
  /** Path of the current page. */
  @property() path = ''
  @state() private heldSince: string | null = null
  @state() private checks: readonly Check[] = []
  @state() private texts: WaitingTexts | null = null

  constructor() {
    super()
    whileConnected(this, (signal) => {
      const timer = setInterval(() => void this.refresh(), refreshMs)
      signal.addEventListener('abort', () => clearInterval(timer))
      document.addEventListener('visibilitychange', () => void this.refresh(), { signal })
      void this.refresh()
    })
  }

  /** Refreshes on navigation, because another page may have resolved a notice. */
  protected override willUpdate(changed: PropertyValues): void {
    const hasNotice = this.heldSince !== null || this.texts !== null || this.checks.some(({ ok }) => !ok)
    if (changed.has('path') && this.hasUpdated && hasNotice) void this.refresh()
  }

  private async refresh(): Promise<void> {
    if (!this.isConnected || document.visibilityState === 'hidden') return
    try {
      this.checks = await fetchChecks(this.http)
      const { heldSince, waitingTexts } = await this.http.get('/api/outbound')
      this.heldSince = heldSince
      this.texts = waitingTexts
    } catch {
      // Keeps the last notices. Each page reports an unreachable service itself.
    }
  }

  override render() {
    return html`<div role="status">${this.checksView()}${this.heldView()}${this.textsView()}</div>`
  }

  private heldView(): TemplateResult | typeof nothing {
    // The Settings page has its own notice, with the button.
    if (this.heldSince === null || this.path === '/settings') return nothing
    return noticeView(html`Outgoing texts, calls and deliveries are on hold<span class="why">: Delegate may not
      know what was sent before ${shortDateText(this.heldSince)}</span>. <a href="/settings">Release outgoing work in Settings</a>`)
  }

  private textsView(): TemplateResult | typeof nothing {
    // While outgoing work is on hold, the notice above gives the reason.
    if (this.texts === null || this.heldSince !== null) return nothing
    const { count, since, until, kind } = this.texts
    const isOne = count === 1
    return noticeView(html`${plural(count, 'text')} ${isOne ? 'has' : 'have'} been waiting since ${timeText(since)}: ${delayText(kind)}<span class="why">.
      ${isOne ? 'It is' : 'They are'} retried until ${shortDateText(until)}</span>.
      ${kind === 'credentials' ? html`<a href="/settings">Check them in Settings</a>` : nothing}`)
  }

  private checksView() {
    if (this.path === '/operations') return nothing
    const failing = this.checks.filter(({ ok }) => !ok)
    const required = failing.find(({ name }) => !reportedChecks.has(name))
    // A failing required check may be the cause of the others. Model failures also show on the timeline.
    const isShownElsewhere = { model: this.path === '/', telephony: this.texts !== null }
    const shown = required
      ? [required]
      : failing.filter(({ name }) => (name !== 'model' && name !== 'telephony') || !isShownElsewhere[name])
    return shown.map((check) =>
      noticeView(
        html`${checkText(check)}<span class="why">${
          check.name === 'projections' ? ' Your messages are still saved.' : ''
        }</span> <a href="/operations">See Health in Operations</a>`,
      ),
    )
  }
}

const noticeView = (content: TemplateResult): TemplateResult =>
  html`<p class="callout warning"><dg-icon name="warning"></dg-icon><span>${content}</span></p>`
