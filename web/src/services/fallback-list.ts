import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { AppElement } from '../app/app-element.ts'
import { labelButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'
import { changeSettings } from '../settings/change-settings.ts'
import { DgChooseModelDialog } from './choose-model-dialog.ts'
import { builtinId, type ModelChoice, type Services, serviceTitle } from './service-words.ts'

/** The service accepts no more. */
const maxFallback = 4

/** The models to try in order if the chat model fails. Each change is saved at once. Fires `changed`. */
@customElement('dg-fallback-list')
export class DgFallbackList extends AppElement {
  static override readonly styles = css`
    :host {
      justify-items: start;
    }
    ol {
      width: 100%;
      counter-reset: place;
    }
    li {
      counter-increment: place;
    }
    li::before {
      width: 1.25rem;
      color: var(--ink-faint);
      font-size: var(--text-sm);
      font-variant-numeric: tabular-nums;
      content: counter(place) '.' / '';
    }
  `
  @property({ attribute: false }) services!: Services
  private busy = false

  private async store(fallback: readonly ModelChoice[], news: string): Promise<void> {
    const { app } = this
    if (fallback.length === 0) await app.http.del('/api/config/{key}', { params: { key: 'CHAT_FALLBACK' } })
    else await changeSettings(this, { CHAT_FALLBACK: JSON.stringify(fallback) })
    this.services = { ...this.services, fallback }
    this.dispatchEvent(new Event('changed'))
    app.announce(news)
  }

  /** Saves the list, one change at a time. True if it was saved. */
  private async save(fallback: readonly ModelChoice[], news: string): Promise<boolean> {
    if (this.busy) return false
    this.busy = true
    const isSaved = await this.app.attempt(() => this.store(fallback, news))
    this.busy = false
    return isSaved
  }

  private async move(at: number, by: -1 | 1): Promise<void> {
    const fallback = [...this.services.fallback]
    const [moved] = fallback.splice(at, 1)
    if (!moved) return
    fallback.splice(at + by, 0, moved)
    if (await this.save(fallback, msg`${moved.model} is now number ${at + by + 1}.`))
      await this.focusOn(at + by, by < 0 ? 'up' : 'down')
  }

  private async drop(at: number): Promise<void> {
    const removed = this.services.fallback[at]
    const fallback = this.services.fallback.filter((_, each) => each !== at)
    if (removed && (await this.save(fallback, msg`${removed.model} is removed.`)))
      await this.focusOn(Math.min(at, fallback.length - 1), 'remove')
  }

  /** Focuses a button of the item, or the next best one where it cannot be pressed. */
  private async focusOn(at: number, name: string): Promise<void> {
    await this.updateComplete
    const item = this.renderRoot.querySelectorAll('li')[at]
    const button =
      item?.querySelector<HTMLElement>(`.${name}:not(:disabled)`) ??
      item?.querySelector<HTMLElement>('button:not(:disabled)') ??
      this.renderRoot.querySelector<HTMLElement>('.add')
    button?.focus()
  }

  private readonly add = (): void => {
    const { services } = this
    const dialog = Object.assign(new DgChooseModelDialog(), {
      ...{ services, forChat: true },
      heading: msg`Add a model`,
      about: msg`It answers if the models before it fail.`,
      action: [msg`Add`, msg`Adding…`],
      onChosen: (choice: ModelChoice) =>
        this.store([...this.services.fallback, choice], msg`${choice.model} is added.`),
    })
    dialog.openIn(this)
  }

  override render() {
    const { fallback } = this.services
    return html`
      ${
        fallback.length === 0
          ? html`<p class="soft">${msg`None. If the chat model fails, you see an error and can try again.`}</p>`
          : html`<ol class="list rows" aria-label=${msg`Models to try, in order`}>
              ${fallback.map((choice, at) => this.itemView(choice, at))}
            </ol>`
      }
      ${
        fallback.length < maxFallback ? labelButton('plus', msg`Add a model`, this.add, 'small add') : nothing
      }
    `
  }

  private itemView(choice: ModelChoice, at: number): TemplateResult {
    const last = this.services.fallback.length - 1
    const button = (name: string, label: string, icon: string, disabled: boolean, act: () => Promise<void>) =>
      html`<button
        class="button quiet icon small ${name}"
        type="button"
        aria-label="${label} ${choice.model}"
        title=${label}
        ?disabled=${disabled}
        @click=${act}
      >
        <dg-icon name=${icon}></dg-icon>
      </button>`
    return html`<li>
      <div class="what">
        ${
          choice.service === builtinId
            ? msg`Builtin model`
            : html`${choice.model} <span class="soft">${serviceTitle(this.services, choice.service)}</span>`
        }
      </div>
      ${
        last === 0
          ? nothing
          : html`${button('up', msg`Move up`, 'arrow-up', at === 0, () => this.move(at, -1))}
              ${button('down', msg`Move down`, 'arrow-down', at === last, () => this.move(at, 1))}`
      }
      ${button('remove', msg`Remove`, 'trash', false, () => this.drop(at))}
    </li>`
  }
}
