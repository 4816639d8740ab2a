import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { AnswerOf } from '../api/routes.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { offlineCopy } from '../app/offline-copy.ts'
import { isSoundOn, setSound } from '../app/sound.ts'
import { hasWorker } from '../app/worker.ts'
import { msg } from '../design/msg.ts'
import { switchStyles, switchView } from '../design/switch.ts'
import { deviceText } from './device.ts'
import { pushObstacle, subscribe, unsubscribe } from './push.ts'

type Subscription = AnswerOf<'/api/push'>['subscriptions'][number]
type Kind = Subscription['kinds'][number]
type Subscribed = Subscription & { readonly device: string }

const kindNames: Readonly<Record<Kind, string>> = {
  reminder: msg`Reminders`,
  task: msg`Finished tasks`,
  confirmation: msg`Confirmations that wait for you`,
  call: msg`Calls and texts from others`,
  budget: msg`Money`,
}

/** What this browser shows and keeps, and which others are notified. */
@customElement('dg-device-notifications')
export class DgDeviceNotifications extends AppElement {
  static override readonly styles = [
    switchStyles,
    css`
      .row {
        display: flex;
        align-items: flex-start;
        justify-content: space-between;
        gap: var(--space-4);
        padding: var(--space-4) var(--space-5);
        border-bottom: 1px solid var(--line);
      }
      .row > div {
        min-width: 0;
      }
      .row > .button {
        flex: none;
      }
      @media (max-width: 44rem) {
        .row {
          padding-inline: var(--space-4);
        }
      }
      .name {
        font-weight: 550;
      }
      .kinds {
        gap: var(--space-2);
        margin-top: var(--space-3);
      }
      .kinds label {
        min-height: 1.75rem;
      }
    `,
  ]
  @state() private busy = false
  readonly loaded = new Loaded<readonly Subscribed[]>(this, {
    fetch: async () => {
      const [{ subscriptions }, { sessions }] = await Promise.all([
        this.app.http.get('/api/push'),
        this.app.http.get('/api/sessions'),
      ])
      const userAgentOf = (id: string) => sessions.find((session) => session.id === id)?.userAgent ?? ''
      return subscriptions.map((each) => ({ ...each, device: deviceText(userAgentOf(each.sessionId)) }))
    },
    concerns: (type) => type.startsWith('push.'),
  })

  /** Runs one change at a time, shows why it failed, and loads the state again. */
  private async change(act: () => Promise<unknown>): Promise<void> {
    this.busy = true
    await this.app.attempt(act)
    await this.loaded.reload()
    this.busy = false
  }

  private choose({ id, kinds }: Subscription, kind: Kind, isWanted: boolean): Promise<void> {
    const others = kinds.filter((each) => each !== kind)
    const body = { kinds: isWanted ? [...others, kind] : others }
    return this.change(() => this.app.http.put('/api/push/{id}', { params: { id }, body }))
  }

  override render() {
    return loadedView(this.loaded, msg`notifications`, (subscriptions) => {
      const own = subscriptions.find(({ current }) => current)
      return html`
        ${this.pushView(own)}
        ${subscriptions.filter((each) => each !== own).map((each) => this.otherView(each))}
        ${rowView(
          msg`Sound`,
          msg`Ring when a reminder is due while a page of Delegate is open here.`,
          switchView({ label: msg`Sound for reminders`, checked: isSoundOn(), onChange: setSound }),
        )}
        ${this.copyView()}
      `
    })
  }

  private pushView(own: Subscription | undefined): TemplateResult {
    const { http } = this.app
    const obstacle = own ? null : pushObstacle()
    const about =
      obstacle ??
      msg`Notifies you here while no page of Delegate is in use. Push services never see the words.`
    return rowView(
      msg`Notify this browser`,
      about,
      obstacle !== null
        ? nothing
        : html`<button
            class="button small"
            ?disabled=${this.busy}
            @click=${() => void this.change(() => (own ? unsubscribe(http, own.id) : subscribe(http)))}
          >
            ${own ? msg`Turn off` : msg`Turn on`}
          </button>`,
      own && this.kindsView(own),
    )
  }

  private kindsView(own: Subscription): TemplateResult {
    return html`<div class="stack kinds" role="group" aria-label=${msg`What about`}>
      ${Object.entries(kindNames).map(
        ([kind, name]) => html`<label class="beside">
          <input
            type="checkbox"
            ?disabled=${this.busy}
            .checked=${own.kinds.includes(kind as Kind)}
            @change=${({ target }: Event) =>
              void this.choose(own, kind as Kind, (target as HTMLInputElement).checked)}
          />${name}
        </label>`,
      )}
    </div>`
  }

  private otherView({ id, device, kinds }: Subscribed): TemplateResult {
    const about =
      kinds.length === 0
        ? msg`Notified about nothing`
        : msg`Notified about: ${kinds.map((kind) => kindNames[kind].toLowerCase()).join(', ')}`
    return rowView(
      device,
      about,
      html`<button
        class="button small"
        aria-label=${msg`Stop notifying ${device}`}
        ?disabled=${this.busy}
        @click=${() => void this.change(() => this.app.http.del('/api/push/{id}', { params: { id } }))}
      >
        ${msg`Stop`}
      </button>`,
    )
  }

  private copyView(): TemplateResult {
    if (!hasWorker()) return html``
    const about = msg`Keeps the newest of the timeline, notes and memories readable here without a connection. Anyone who can open this browser can read it. It is removed when you sign out, and after seven days without contact.`
    return rowView(
      msg`Offline copy`,
      about,
      switchView({
        label: msg`Offline copy`,
        checked: offlineCopy.isWanted(),
        onChange: (isOn) => void this.change(isOn ? offlineCopy.want : offlineCopy.drop),
      }),
    )
  }
}

function rowView(name: string, about: string, control: unknown, more: unknown = nothing): TemplateResult {
  return html`<div class="row">
    <div>
      <p class="name">${name}</p>
      <p class="soft">${about}</p>
      ${more}
    </div>
    ${control}
  </div>`
}
