import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { ServiceTest } from '../../../src/http/contract/services.ts'
import { LightElement } from '../app/light-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { problemView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { changeSettings } from '../settings/change-settings.ts'
import '../services/model-picker.ts'
import type { DgModelPicker } from '../services/model-picker.ts'
import {
  entryFields,
  hintView,
  keyToSave,
  missingForTest,
  type ServiceEntry,
  triedOf,
} from '../services/service-form.ts'
import '../services/service-test.ts'
import type { DgServiceTest } from '../services/service-test.ts'
import {
  hostOf,
  type Service,
  type ServiceKind,
  type Services,
  setUpServices,
  suggestedModel,
} from '../services/service-words.ts'
import { valueText } from '../settings/setting-row.ts'

/**
 * Chooses a model service by name, tests it, and chooses its chat model. Nothing is saved before the test passes.
 */
@customElement('dg-model-step')
export class DgModelStep extends LightElement {
  protected override readonly sheets = [modelStepStyles]
  /** It is set up or skipped. */
  @property({ attribute: false }) done!: () => void
  @state() private kind: ServiceKind | null = null
  /** The last test, if it passed and nothing changed since. */
  @state() private passed: ServiceTest | null = null
  @state() private model = ''
  private readonly loaded = new Loaded<Services>(this, { fetch: () => this.fetch() })
  /** The chat model of the settings: their default is one of OpenAI's. */
  private current = ''

  private async fetch(): Promise<Services> {
    const { http } = this.app
    const [services, { entries }] = await Promise.all([http.get('/api/services'), http.get('/api/config')])
    this.current = valueText(entries.find(({ key }) => key === 'CHAT_MODEL'))
    return services
  }

  /** The main service, if it is of the chosen kind. */
  private get service(): Service | null {
    const main = this.loaded.value?.services.find(({ id }) => id === 'main')
    return main && main.kind === this.kind?.kind ? main : null
  }

  private async choose(kind: ServiceKind | null): Promise<void> {
    const before = this.kind
    this.kind = kind
    this.passed = null
    this.submission.show({})
    await this.updateComplete
    this.querySelector<HTMLElement>(kind ? '.input' : `[data-kind="${before?.kind}"]`)?.focus()
  }

  private get entry(): ServiceEntry {
    const textOf = (name: string) => this.querySelector<HTMLInputElement>(`#${name}`)?.value.trim() ?? ''
    return { baseUrl: textOf('baseUrl'), apiKey: textOf('apiKey') }
  }

  /** What was tested is no longer what would be saved. */
  private readonly edited = (event: Event): void => {
    // The fields of the picker have its element as their target, and are not part of what was tested.
    if (!(event.target instanceof HTMLInputElement)) return
    this.passed = null
    this.querySelector<DgServiceTest>('dg-service-test')?.clear()
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const { kind, passed, entry } = this
    if (!kind) return
    if (passed === null) return this.test(kind, entry)
    const isSaved = await this.submission.send(() => this.save(kind, entry), {
      model: this.model === '' && msg`Choose a model.`,
    })
    if (isSaved) this.done()
  }

  private async test(kind: ServiceKind, entry: ServiceEntry): Promise<void> {
    const element = this.querySelector<DgServiceTest>('dg-service-test')
    await this.submission.send(
      async () => {
        const result = (await element?.run(triedOf(kind, this.service, entry), entry.baseUrl)) ?? null
        this.passed = result?.ok ? result : null
        if (result?.ok) this.model = suggestedModel(result.models, this.current)
      },
      missingForTest(kind, this.service, entry),
    )
    await this.updateComplete
    const picker = this.querySelector<DgModelPicker>('dg-model-picker')
    await picker?.updateComplete
    if (picker) picker.focus()
    else if (Object.keys(this.submission.errors).length === 0)
      this.querySelector<HTMLElement>('.primary')?.focus()
  }

  private async save(kind: ServiceKind, entry: ServiceEntry): Promise<void> {
    const { http } = this.app
    const apiKey = keyToSave(kind, this.service, entry)
    await http.put('/api/services/{id}', {
      params: { id: 'main' },
      body: { kind: kind.kind, title: kind.title, baseUrl: entry.baseUrl, apiKey },
    })
    await changeSettings(this, { CHAT_SERVICE: 'main', CHAT_MODEL: this.model })
  }

  override render() {
    return loadedView(this.loaded, msg`the model services`, (services) =>
      this.kind ? this.formView(this.kind) : this.choicesView(services),
    )
  }

  private choicesView(services: Services): TemplateResult {
    const { kinds, uses } = services
    const chat = uses.find(({ use }) => use === 'chat')
    const service = setUpServices(services).find(({ id }) => id === chat?.service)
    return html`
      ${
        service
          ? html`<div class="beside in-use">
              <dg-icon name="done"></dg-icon>
              <p>
                <strong>${service.title}</strong> ${msg`at ${hostOf(service.baseUrl)} is set up and replies with ${chat?.model}.`}
              </p>
            </div>`
          : nothing
      }
      <ul class="list choices" aria-label=${msg`Model services`}>
        ${kinds.map(
          (kind) => html`<li>
            <button class="choice" type="button" data-kind=${kind.kind} @click=${() => this.choose(kind)}>
              <strong>${kind.title}</strong><span class="soft">${kind.about}</span>
            </button>
          </li>`,
        )}
        ${
          service
            ? nothing
            : html`<li>
                <button class="choice" type="button" @click=${this.done}>
                  <strong>${msg`Without a service for now`}</strong>
                  <span class="soft">${msg`The builtin model replies, in English only.`}</span>
                </button>
              </li>`
        }
      </ul>
      ${
        service
          ? html`<div class="actions step-actions"><button class="button primary" type="button" @click=${this.done}>${msg`Continue`}</button></div>`
          : nothing
      }
    `
  }

  private formView(kind: ServiceKind): TemplateResult {
    const { passed } = this
    const { busy, problem, errors } = this.submission
    return html`<form class="form" novalidate @submit=${this.submit} @input=${this.edited}>
      <div class="beside chosen">
        <strong>${kind.title}</strong>
        <button class="button small" type="button" ?disabled=${busy} @click=${() => this.choose(null)}>${msg`Choose another`}</button>
      </div>
      ${hintView(kind.hint)} ${entryFields(kind, this.service, errors)}
      <dg-service-test .app=${this.app}></dg-service-test>
      ${
        passed === null
          ? nothing
          : html`<dg-model-picker
              label=${msg`Model for the chat`}
              .models=${passed.models}
              .value=${this.model}
              .error=${errors.model ?? ''}
              @pick=${({ detail }: CustomEvent<string>) => {
                this.model = detail
                this.submission.show({})
              }}
            ></dg-model-picker>`
      }
      ${problemView(problem)}
      <div class="actions step-actions">
        <button class="button primary" ?disabled=${busy}>
          ${passed ? (busy ? msg`Saving…` : msg`Continue`) : busy ? msg`Testing…` : msg`Test the connection`}
        </button>
      </div>
    </form>`
  }
}

const modelStepStyles = css`
  .choices {
    grid-template-columns: repeat(2, minmax(0, 1fr));
    gap: var(--space-3);
  }
  .choices li:last-child:nth-child(odd) {
    grid-column: 1 / -1;
  }
  .choice {
    align-content: start;
    gap: var(--space-1);
    width: 100%;
    height: 100%;
    min-height: 4.5rem;
    border-color: var(--line-strong);
  }
  .choice:hover {
    border-color: var(--accent);
    background: var(--hover);
  }
  .choice strong {
    font-weight: 600;
  }
  .in-use,
  .chosen {
    gap: var(--space-3);
  }
  .in-use {
    margin-bottom: var(--space-4);
    padding: var(--space-3);
    border-radius: var(--radius-md);
    background: var(--sunken);
    font-size: var(--text-sm);
  }
  .in-use dg-icon {
    color: var(--success);
  }
  .chosen {
    justify-content: space-between;
  }
`
