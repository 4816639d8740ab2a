import { css, html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { HaltState } from '../../../src/http/contract/halt.ts'
import type { WaitingTexts } from '../../../src/http/contract/outbound.ts'
import { type Check, fetchChecks, reportedChecks } from '../api/health.ts'
import { countText, shortDateText, timeText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { checkText, delayText } from '../operations/health-words.ts'
import { AppElement } from './app-element.ts'
import { askToConfirm } from './confirm-dialog.ts'
import { haltedText } from './halt-words.ts'
import { Loaded } from './loaded.ts'

const refreshMs = 60_000

/** Notices above every page: a halt, outgoing work on hold, delayed texts, and failing checks with what to do. */
@customElement('dg-service-notices')
export class DgServiceNotices extends AppElement {
  static override readonly styles = css`
    .callout {
      padding: var(--space-2) var(--space-4);
      border-bottom: 1px solid var(--line);
      border-radius: 0;
      line-height: 1.45;
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
  `
  /** Null until it is known. */
  @property({ attribute: false }) halt: HaltState | null = null
  /** Path of the current page. */
  @property() path = ''
  /** A failure keeps the last notices: each page reports an unreachable service itself. */
  private readonly notices = new Loaded(this, {
    fetch: async () => ({
      checks: await fetchChecks(this.app.http),
      outbound: await this.app.http.get('/api/outbound'),
    }),
    concerns: (type) => type === 'outbound.released',
    againMs: () => (document.hidden ? null : refreshMs),
  })

  protected override connected(signal: AbortSignal): void {
    const reloadIfShown = () => void (document.hidden || this.notices.reload())
    document.addEventListener('visibilitychange', reloadIfShown, { signal })
  }

  /** Reloads on navigation, because another page may have resolved a notice. */
  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('path') && this.hasUpdated) void this.notices.reload()
  }

  private readonly confirmRelease = (): void =>
    askToConfirm(this, {
      heading: msg`Release outgoing work?`,
      content: msg`Delegate sends everything that was waiting. If you restored an old backup, that may repeat texts and webhooks that were already sent.`,
      action: msg`Release`,
      run: () => this.app.http.post('/api/outbound/release'),
      done: msg`Sending queued messages`,
      reload: this.notices.reload,
    })

  override render() {
    const { value } = this.notices
    if (value === null) return html`<div role="status">${this.haltView()}</div>`
    const { checks, outbound } = value
    // While outgoing work is on hold, that is why texts wait.
    return html`<div role="status">
      ${this.haltView()}
      ${this.checksView(checks, outbound.waitingTexts !== null)}
      ${outbound.heldSince === null ? textsView(outbound.waitingTexts) : this.heldView(outbound.heldSince)}
    </div>`
  }

  private haltView(): TemplateResult | typeof nothing {
    if (!this.halt?.halted) return nothing
    const open = () => this.dispatchEvent(new Event('open-halt', { bubbles: true, composed: true }))
    return noticeView(html`${msg`${haltedText(this.halt)}. Delegate answers in chat but does nothing else.`}
      <button class="button small" @click=${open}>${msg`Release…`}</button>`)
  }

  private heldView(since: string): TemplateResult {
    return noticeView(html`${msg`Outgoing texts, calls and deliveries are on hold`}<span class="why">${msg`: Delegate may not know what was sent before ${shortDateText(since)}`}</span>.
      <button class="button small" @click=${this.confirmRelease}>${msg`Release outgoing work`}</button>`)
  }

  private checksView(checks: readonly Check[], areTextsShown: boolean) {
    if (this.path === '/operations') return nothing
    const failing = checks.filter(({ ok }) => !ok)
    const required = failing.find(({ name }) => !reportedChecks.has(name))
    // A failing required check may be the cause of the others. Model failures also show on the timeline.
    const isShownElsewhere = { model: this.path === '/', telephony: areTextsShown }
    const shown = required
      ? [required]
      : failing.filter(({ name }) => (name !== 'model' && name !== 'telephony') || !isShownElsewhere[name])
    return shown.map((check) =>
      noticeView(
        html`${checkText(check)}<span class="why">${
          check.name === 'projections' ? msg` Your messages are still saved.` : ''
        }</span> <a href="/operations">${msg`See Health in Operations`}</a>`,
      ),
    )
  }
}

function textsView(texts: WaitingTexts | null): TemplateResult | typeof nothing {
  if (texts === null) return nothing
  const { count, since, until, kind } = texts
  const isOne = count === 1
  return noticeView(html`${isOne ? msg`1 text has been waiting since ${timeText(since)}: ${delayText(kind)}` : msg`${countText(count)} texts have been waiting since ${timeText(since)}: ${delayText(kind)}`}<span class="why">${isOne ? msg`. It is retried until ${shortDateText(until)}` : msg`. They are retried until ${shortDateText(until)}`}</span>.
    ${kind === 'credentials' ? html`<a href="/settings">${msg`Check them in Settings`}</a>` : nothing}`)
}

const noticeView = (content: TemplateResult): TemplateResult =>
  html`<p class="callout warning"><dg-icon name="warning"></dg-icon><span class="what">${content}</span></p>`
