import { css, html, nothing } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { AppElement } from '../app/app-element.ts'
import { Loaded } from '../app/loaded.ts'
import { msg } from '../design/msg.ts'
import { type ModelChoice, type Services, serviceTitle, setUpServices } from '../services/service-words.ts'

type Offer = {
  readonly services: Services
  /** Whether there is more than one model to choose; null before the only service was asked. */
  readonly isChoice: boolean | null
}

/**
 * A button that chooses the model for the next message, if there is more than one. Fires `pick` with the choice, and
 * `picked` once the dialog is closed.
 */
@customElement('dg-next-model')
export class DgNextModel extends AppElement {
  static override readonly styles = css`
    :host {
      display: contents;
    }
  `
  @property({ attribute: false }) chosen: ModelChoice | null = null
  /** Whether a message is being written. Only then is it worth asking the service for its models. */
  @property({ type: Boolean }) writing = false
  private readonly loaded = new Loaded<Offer>(this, {
    fetch: (signal) => this.fetch(signal),
    concerns: (type) => type === 'settings.changed',
  })

  private async fetch(signal: AbortSignal): Promise<Offer> {
    const { http } = this.app
    const services = await http.get('/api/services', { signal })
    const [only, ...others] = setUpServices(services)
    if (!only || others.length > 0) return { services, isChoice: others.length > 0 }
    if (!this.writing) return { services, isChoice: null }
    const { models } = await http.get('/api/services/{id}/models', { params: { id: only.id }, signal })
    return { services, isChoice: models.length > 1 }
  }

  protected override updated(): void {
    if (
      this.writing &&
      !this.loaded.loading &&
      this.loaded.value?.isChoice === null &&
      this.loaded.problem === ''
    )
      void this.loaded.reload()
  }

  private readonly open = async (): Promise<void> => {
    const { DgChooseModelDialog } = await import('../services/choose-model-dialog.ts')
    const services = this.loaded.value?.services
    if (!services) return
    const chat = services.uses.find(({ use }) => use === 'chat') ?? null
    const dialog = Object.assign(new DgChooseModelDialog(), {
      ...{ services, choice: this.chosen ?? chat },
      heading: msg`Model for the next message`,
      about: msg`Later messages use the model of the settings again.`,
      action: [msg`Choose`, msg`Choose`],
      onChosen: (choice: ModelChoice) => {
        const title = serviceTitle(services, choice.service)
        this.dispatchEvent(new CustomEvent('pick', { detail: { ...choice, title } }))
      },
    })
    // Only now has the focus returned to the button, from where the composer takes it.
    if (await dialog.ask(this)) this.dispatchEvent(new Event('picked'))
  }

  override render() {
    if (!this.loaded.value?.isChoice) return nothing
    return html`<button
      class="button quiet icon round"
      type="button"
      aria-label=${msg`Choose the model for the next message`}
      title=${msg`Choose the model for the next message`}
      aria-haspopup="dialog"
      @click=${() => void this.app.attempt(this.open)}
    >
      <dg-icon name="spark"></dg-icon>
    </button>`
  }
}
