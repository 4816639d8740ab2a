import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { Setting } from '../../../src/http/contract/settings.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { labelButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'
import { changeSettings } from '../settings/change-settings.ts'
import { isForAnotherHost, otherHostText } from '../settings/setting-row.ts'
import { DgChooseModelDialog } from './choose-model-dialog.ts'
import './fallback-list.ts'
import { DgServiceDialog } from './service-dialog.ts'
import './service-test.ts'
import { wideTable } from '../design/wide-table.ts'
import { originStyles, originView } from '../settings/origin.ts'
import type { DgServiceTest } from './service-test.ts'
import {
  builtinId,
  builtinModel,
  chatUse,
  type ModelChoice,
  mainId,
  type Service,
  type Services,
  setUpServices,
  type UsedModel,
  type UseRow,
} from './service-words.ts'
import { sourceTags, usesTable, usesTableStyles } from './uses-table.ts'

/** The model services, what each is used for, and what answers if one fails. */
@customElement('dg-model-services')
export class DgModelServices extends AppElement {
  static override readonly styles = [
    originStyles,
    wideTable,
    usesTableStyles,
    css`
      section {
        padding: var(--space-4) var(--space-5);
      }
      section + section {
        border-top: 1px solid var(--line);
      }
      header {
        justify-content: space-between;
      }
      h3 {
        font-size: var(--text-md);
        font-weight: 600;
      }
      section > .soft {
        margin-bottom: var(--space-2);
      }
      dg-service-test {
        flex: 1 0 100%;
      }
      @media (max-width: 44rem) {
        section {
          padding-inline: var(--space-4);
        }
      }
    `,
  ]
  /** The settings of the section, for the source of each value. */
  @property({ attribute: false }) settings: readonly Setting[] = []
  /** The service that is being tested. */
  @state() private testing: string | null = null
  private readonly loaded = new Loaded<Services>(this, {
    fetch: () => this.app.http.get('/api/services'),
    concerns: (type) => type === 'settings.changed',
  })

  private async edit(services: Services, edited: Service | null): Promise<void> {
    const asMain = edited === null && !setUpServices(services).some(({ id }) => id === mainId)
    const onSaved = (changed: Services) => {
      this.loaded.put(changed)
      if (edited) this.app.toast(msg`Saved`)
      else if (!asMain) this.app.toast(msg`Added. Choose below what to use it for.`)
    }
    const dialog = Object.assign(new DgServiceDialog(), { services, edited, asMain, onSaved })
    if (!(await dialog.ask(this)) || !asMain) return
    // The first service is for the chat, with one of its own models.
    const { value } = this.loaded
    const chat = value?.uses.find(({ use }) => use === 'chat')
    if (!value || chat?.service !== mainId) return
    if (await this.changeUse(value, chatUse, { ...chat, model: null })) return
    // Without a choice, what replied so far still does.
    const [service, model] = chatUse.keys
    await this.app.attempt(() => changeSettings(this, { [service]: builtinId, [model]: builtinModel }))
  }

  private confirmRemoving({ id, title }: Service): void {
    askToConfirm(this, {
      heading: msg`Remove ${title}?`,
      content: msg`Its address and its key are deleted.`,
      action: msg`Remove`,
      run: () => this.app.http.del('/api/services/{id}', { params: { id } }),
      done: msg`${title} is removed`,
      reload: this.loaded.reload,
    })
  }

  private async test({ id, baseUrl }: Service): Promise<void> {
    if (this.testing !== null) return
    this.testing = id
    await this.renderRoot.querySelector<DgServiceTest>(`#test-${id}`)?.run({ id }, baseUrl)
    this.testing = null
  }

  private async change(services: Services, row: UseRow, choice: UsedModel): Promise<void> {
    if (setUpServices(services).length === 0) await this.edit(services, null)
    else await this.changeUse(services, row, choice)
  }

  private changeUse(services: Services, row: UseRow, choice: UsedModel): Promise<boolean> {
    const { app } = this
    const { use, title, about, keys } = row
    const dialog = Object.assign(new DgChooseModelDialog(), {
      ...{ services, choice, forChat: use === 'chat' },
      heading: msg`Model: ${title}`,
      about,
      action: [msg`Save`, msg`Saving…`],
      onChosen: async ({ service, model }: ModelChoice) => {
        await changeSettings(this, { [keys[0]]: service, [keys[1]]: model })
        app.toast(msg`Saved. Takes effect on the next turn.`)
        await this.loaded.reload()
      },
    })
    return dialog.ask(this)
  }

  private readonly reset = async ({ use, title, keys }: UseRow): Promise<void> => {
    // The model first, because another service does not know it.
    const stored = keys
      .toReversed()
      .filter((key) => this.settings.some((each) => each.key === key && each.source === 'stored'))
    await this.app.attempt(async () => {
      for (const key of stored) await this.app.http.del('/api/config/{key}', { params: { key } })
      this.app.toast(msg`${title}: reset`)
      await this.loaded.reload()
    })
    // The pressed button no longer exists, so move the focus.
    this.renderRoot.querySelector<HTMLElement>(`[data-use="${use}"]`)?.focus()
  }

  /** The main service comes from settings, which the environment may set too. */
  private mainView(title: string): TemplateResult {
    const own = this.settings.filter(({ key }) => mainKeys.includes(key))
    const key = own.find((setting) => setting.key === 'OPENAI_API_KEY')
    const isStored = own.some(({ source }) => source === 'stored')
    return html`${key && isForAnotherHost(key) ? html`<p class="soft">${otherHostText(key)}</p>` : nothing}
      ${originView(
        sourceTags(own),
        ['OPENAI_BASE_URL', 'OPENAI_API_KEY'],
        isStored ? { label: msg`Reset ${title}`, run: () => this.confirmReset(title) } : null,
      )}`
  }

  private confirmReset(title: string): void {
    askToConfirm(this, {
      heading: msg`Reset ${title}?`,
      content: msg`Its address and its key are deleted. The values of the environment apply again, if there are any.`,
      action: msg`Reset`,
      run: async () => {
        const stored = this.settings.filter(
          ({ key, source }) => mainKeys.includes(key) && source === 'stored',
        )
        for (const { key } of stored) await this.app.http.del('/api/config/{key}', { params: { key } })
      },
      done: msg`${title} is reset`,
      reload: this.loaded.reload,
    })
  }

  override render() {
    return loadedView(this.loaded, msg`the model services`, (services) => this.contentView(services))
  }

  private contentView(services: Services): TemplateResult {
    // A main service that something is set for is shown, even if it cannot be used.
    const isSet = this.settings.some(
      ({ key, source }) => mainKeys.includes(key) && !/^(?:unset|default)$/.test(source),
    )
    const shown = isSet ? services.services : setUpServices(services)
    return html`
      <section>
        <header class="beside">
          <h3 id="services">${msg`Services`}</h3>
          ${labelButton('plus', msg`Add a service`, () => this.edit(services, null))}
        </header>
        <ul class="list rows" aria-labelledby="services">
          ${shown.map((service) => this.serviceView(service, services))}
        </ul>
        ${shown.length === 0 ? html`<p class="soft">${msg`None yet. The builtin model replies.`}</p>` : nothing}
      </section>
      <section>
        <h3>${msg`What each model is used for`}</h3>
        ${usesTable({
          services,
          settings: this.settings,
          change: (row, current) => void this.change(services, row, current),
          reset: (row) => void this.reset(row),
        })}
      </section>
      <section>
        <h3>${msg`If the chat model fails`}</h3>
        <p class="soft">${msg`If it fails before its first word, these are tried in order.`}</p>
        <dg-fallback-list
          class="stack"
          .app=${this.app}
          .services=${services}
          @changed=${this.loaded.reload}
        ></dg-fallback-list>
      </section>
    `
  }

  private serviceView(service: Service, services: Services): TemplateResult {
    const { id, title, baseUrl } = service
    const isTesting = this.testing === id
    return html`<li>
      <div class="what">
        <p>${title}</p>
        <p class="facts"><span>${baseUrl}</span><span>${keyText(service, services)}</span></p>
        ${id === mainId ? this.mainView(title) : nothing}
      </div>
      <div class="actions">
        <button class="button small" type="button" aria-label=${msg`Test ${title}`} ?disabled=${isTesting} @click=${() => this.test(service)}>
          ${isTesting ? msg`Testing…` : msg`Test`}
        </button>
        <button class="button small" type="button" aria-label=${msg`Change ${title}`} @click=${() => this.edit(services, service)}>
          ${msg`Change`}
        </button>
        ${
          id === mainId
            ? nothing
            : html`<button class="button small" type="button" aria-label=${msg`Remove ${title}`} @click=${() => this.confirmRemoving(service)}>
                ${msg`Remove`}
              </button>`
        }
      </div>
      <dg-service-test id="test-${id}" .app=${this.app}></dg-service-test>
    </li>`
  }
}

/** The settings of the main service. */
const mainKeys: readonly string[] = ['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'MODEL_API']

function keyText({ kind, hasKey }: Service, { kinds }: Services): string {
  if (hasKey) return msg`key set`
  return kinds.some((each) => each.kind === kind && each.needsKey) ? msg`no key yet` : msg`no key needed`
}
