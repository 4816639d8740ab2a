import { css, html, nothing } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { AnswerOf } from '../api/routes.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { fullTimeText, relativeText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { deviceText, isHandheld } from './device.ts'

type SignIn = AnswerOf<'/api/sessions'>['sessions'][number]

/** The owner's sessions. */
@customElement('dg-sign-in-list')
export class DgSignInList extends AppElement {
  static override readonly styles = css`
    li:first-child {
      padding-top: 0;
    }
    li > dg-icon {
      --icon-size: 1.375rem;
      color: var(--ink-faint);
    }
    ul + .button {
      margin-top: var(--space-3);
    }
  `
  readonly list = new Loaded<readonly SignIn[]>(this, {
    fetch: async () => (await this.app.http.get('/api/sessions')).sessions,
  })

  private confirmRevoking(signIn: SignIn): void {
    askToConfirm(this, {
      heading: msg`Sign out this device?`,
      content: msg`${deviceText(signIn.userAgent)} will have to sign in again. Its open pages close at once.`,
      action: msg`Sign out`,
      run: () => this.app.http.del('/api/sessions/{id}', { params: { id: signIn.id } }),
      done: msg`Signed out`,
      reload: this.list.reload,
    })
  }

  private confirmRevokingOthers(): void {
    askToConfirm(this, {
      heading: msg`Sign out all other devices?`,
      content: msg`They will have to sign in again. Their open pages close at once. This device stays signed in.`,
      action: msg`Sign out`,
      run: () => this.app.http.del('/api/sessions'),
      done: msg`All other devices are signed out.`,
      reload: this.list.reload,
    })
  }

  override render() {
    return loadedView(
      this.list,
      msg`sessions`,
      (list) => html`<ul class="list rows" aria-label=${msg`Signed in`}>
          ${list.map((signIn) => this.itemView(signIn))}
        </ul>
        ${
          list.length > 1
            ? html`<button class="button small" @click=${() => this.confirmRevokingOthers()}>
                ${msg`Sign out all other devices`}
              </button>`
            : nothing
        }`,
    )
  }

  private itemView(signIn: SignIn) {
    const device = deviceText(signIn.userAgent)
    return html`<li>
      <dg-icon name=${isHandheld(signIn.userAgent) ? 'handheld' : 'monitor'}></dg-icon>
      <div class="what">
        <p title=${signIn.userAgent}>${device}</p>
        <p class="facts">
          <time datetime=${signIn.lastSeenAt} title=${fullTimeText(signIn.lastSeenAt)}>${msg`Seen ${relativeText(signIn.lastSeenAt)}`}</time>
          <time datetime=${signIn.createdAt} title=${fullTimeText(signIn.createdAt)}>${msg`Signed in ${relativeText(signIn.createdAt)}`}</time>
        </p>
      </div>
      ${
        signIn.current
          ? html`<span class="tag on">${msg`This device`}</span>`
          : html`<button
              class="button small"
              aria-label=${msg`Sign out ${device}`}
              @click=${() => this.confirmRevoking(signIn)}
            >
              ${msg`Sign out`}
            </button>`
      }
    </li>`
  }
}
