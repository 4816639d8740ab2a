import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { type Form, FormDialog } from '../app/form-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { choiceView, takeText } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import './model-picker.ts'
import {
  builtinId,
  builtinModel,
  type ModelChoice,
  type OfferedModel,
  type Services,
  setUpServices,
  suggestedModel,
} from './service-words.ts'

/** Chooses a model of one of the services, for one use or one message. */
@customElement('dg-choose-model-dialog')
export class DgChooseModelDialog extends FormDialog {
  @property({ attribute: false }) services!: Services
  @property() heading = ''
  @property() about = ''
  /** The current choice. */
  @property({ attribute: false }) choice: { readonly service: string; readonly model: string | null } | null =
    null
  /** For the chat, the builtin model is among the choices, and one is suggested. */
  @property({ attribute: false }) forChat = false
  @property({ attribute: false }) action: readonly [idle: string, busy: string] = [msg`Choose`, msg`Saving…`]
  @property({ attribute: false }) onChosen!: (choice: ModelChoice) => void | Promise<void>
  @state() private service = ''
  @state() private model = ''
  private readonly models = new Loaded<readonly OfferedModel[]>(this, {
    fetch: (signal) => this.fetch(signal),
  })

  override connectedCallback(): void {
    const known = this.offered.map(([id]) => id)
    this.service = known.find((id) => id === this.choice?.service) ?? known[0] ?? ''
    this.model = this.modelOf(this.service)
    super.connectedCallback()
  }

  private get offered(): readonly (readonly [id: string, title: string])[] {
    const services = setUpServices(this.services).map(({ id, title }) => [id, title] as const)
    return this.forChat ? [...services, [builtinId, msg`Builtin`]] : services
  }

  /** The current model, if it belongs to this service. */
  private modelOf(service: string): string {
    return service === this.choice?.service ? (this.choice.model ?? '') : ''
  }

  private async fetch(signal: AbortSignal): Promise<readonly OfferedModel[]> {
    const { service: id } = this
    if (id === builtinId) return []
    const { models } = await this.app.http.get('/api/services/{id}/models', { params: { id }, signal })
    if (this.forChat) this.model ||= suggestedModel(models, '')
    return models
  }

  private readonly chooseService = takeText((id) => {
    this.service = id
    this.model = this.modelOf(id)
    this.submission.show({})
    this.models.problem = ''
    this.models.put(null)
    void this.models.reload()
  })

  protected override submit(): Promise<boolean> {
    const { service } = this
    const model = service === builtinId ? builtinModel : this.model
    return this.submission.send(async () => await this.onChosen({ service, model }), {
      'model-name': model === '' && msg`Choose a model.`,
    })
  }

  protected override form(): Form {
    const { offered } = this
    return {
      heading: this.heading,
      action: this.action,
      fields: html`
        ${this.about === '' ? nothing : html`<p class="soft">${this.about}</p>`}
        ${
          offered.length < 2
            ? nothing
            : html`<div @change=${this.chooseService}>
                ${choiceView('service', msg`Service`, offered, this.service)}
              </div>`
        }
        ${this.service === builtinId ? builtinView : this.modelsView()}
      `,
    }
  }

  /** A name can be entered even if the models cannot be listed. */
  private modelsView(): TemplateResult {
    const { value, problem } = this.models
    if (value === null && problem === '') return loadedView(this.models, msg`the models`, () => nothing)
    return html`${
      value === null
        ? html`<div class="callout warning">
              <dg-icon name="warning"></dg-icon>
              <span>${problem} <button class="button small" type="button" @click=${this.models.reload}>${msg`Try again`}</button></span>
            </div>`
        : nothing
    }
      <dg-model-picker
        .models=${value ?? []}
        .value=${this.model}
        .error=${this.submission.errors['model-name'] ?? ''}
        @pick=${({ detail }: CustomEvent<string>) => {
          this.model = detail
          this.submission.show({})
        }}
      ></dg-model-picker>`
  }
}

const builtinView = html`<p>${msg`The builtin model takes notes, remembers facts and sets reminders. It works without a service.`}</p>`
