import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { copyWithToast } from '../app/copy.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { fullTimeText, relativeText } from '../design/format.ts'
import { labelButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'

type Feed = { readonly madeAt: string | null }

/** Reminders for other calendars: as a file, or by a private address. */
@customElement('dg-calendar-feed')
export class DgCalendarFeed extends AppElement {
  static override readonly styles = css`
    :host {
      margin-top: var(--space-6);
    }
    .address {
      flex-basis: 100%;
      font: var(--text-sm) / 1.55 var(--font-mono);
    }
  `
  /** The address that was made here, which the service shows only once. */
  @state() private url = ''
  private readonly feed = new Loaded<Feed>(this, {
    fetch: (signal) => this.app.http.get('/api/timers.feed', { signal }),
    concerns: (type) => type === 'settings.changed',
  })

  private async make(): Promise<void> {
    const { url } = await this.app.http.post('/api/timers.feed')
    this.url = url
    await this.feed.reload()
  }

  private readonly makeFirst = (): void => void this.app.attempt(() => this.make())

  private readonly confirmReplacing = (): void =>
    askToConfirm(this, {
      heading: msg`Replace the calendar address?`,
      content: msg`Calendars that follow the present one will no longer be updated.`,
      action: msg`Replace it`,
      run: () => this.make(),
    })

  private readonly confirmDropping = (): void =>
    askToConfirm(this, {
      heading: msg`Switch the calendar address off?`,
      content: msg`Calendars that follow it will no longer be updated.`,
      action: msg`Switch it off`,
      keep: msg`Keep it`,
      run: async () => {
        await this.app.http.del('/api/timers.feed')
        this.url = ''
        await this.feed.reload()
      },
    })

  override render() {
    return html`<h2 class="heading">${msg`Calendar`}</h2>
      ${loadedView(
        this.feed,
        msg`the calendar address`,
        (feed) => html`<ul class="list rows" aria-label=${msg`Calendar`}>
          <li>
            <dg-icon name="download"></dg-icon>
            <div class="what">
              <p>${msg`Calendar file`}</p>
              <p class="soft">${msg`Your reminders of the next 90 days, for any calendar.`}</p>
            </div>
            <a class="button small" href="/api/timers.ics" download>${msg`Download`}</a>
          </li>
          ${this.addressView(feed)}
        </ul>`,
      )}`
  }

  private addressView({ madeAt }: Feed): TemplateResult {
    return html`<li>
      <dg-icon name="link"></dg-icon>
      <div class="what">
        <p>${msg`Calendar address`}</p>
        ${
          madeAt === null
            ? html`<p class="soft">
                ${msg`Off. A calendar that follows it stays up to date. Anybody who knows the address can read your reminders.`}
              </p>`
            : html`<p class="facts">
                <time datetime=${madeAt} title=${fullTimeText(madeAt)}>${msg`Made ${relativeText(madeAt)}`}</time>
                <span>${msg`Anybody who knows it can read your reminders`}</span>
              </p>`
        }
      </div>
      ${
        madeAt === null
          ? html`<button class="button small" @click=${this.makeFirst}>${msg`Make an address`}</button>`
          : html`<span class="actions">
              <button class="button small" @click=${this.confirmReplacing}>${msg`Replace`}</button>
              <button class="button small" @click=${this.confirmDropping}>${msg`Switch off`}</button>
            </span>`
      }
      ${this.url === '' || madeAt === null ? nothing : this.newAddressView()}
    </li>`
  }

  private newAddressView(): TemplateResult {
    const { url } = this
    const copy = () => copyWithToast(url, msg`Copied`, this.app.toast)
    return html`<p class="address">${url}</p>
      <p class="soft what">${msg`Copy it now: it is not shown again.`}</p>
      ${labelButton('copy', msg`Copy`, copy, 'small primary')}`
  }
}
