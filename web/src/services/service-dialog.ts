import { html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { type Form, FormDialog, textIn } from '../app/form-dialog.ts'
import { freeName } from '../app/free-name.ts'
import { choiceView, fieldView, takeText } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { entryFields, hintView, keyToSave, missing, missingForTest, triedOf } from './service-form.ts'
import './service-test.ts'
import type { DgServiceTest } from './service-test.ts'
import { builtinId, mainId, type Service, type ServiceKind, type Services } from './service-words.ts'

const apis = [
  ['auto', msg`Find out automatically`],
  ['responses', msg`Responses API`],
  ['completions', msg`Chat completions`],
] as const

/** Adds a model service or changes one. */
@customElement('dg-service-dialog')
export class DgServiceDialog extends FormDialog {
  @property({ attribute: false }) services!: Services
  /** Saves a new service as the main one. */
  @property({ attribute: false }) asMain = false
  /** Null to add one. */
  @property({ attribute: false }) edited: Service | null = null
  @property({ attribute: false }) onSaved!: (services: Services) => void
  @state() private kindId = ''
  @state() private testing = false

  private get kind(): ServiceKind {
    const { kinds } = this.services
    const wanted = this.edited?.kind ?? this.kindId
    const found = kinds.find(({ kind }) => kind === wanted) ?? kinds[0]
    if (!found) throw new Error('the service knows no kinds')
    return found
  }

  /** The title of the main service follows from its address. */
  private get isMain(): boolean {
    return this.asMain || this.edited?.id === mainId
  }

  /** The title of a new service, with a number if it is taken. */
  private freeTitle(): string {
    const taken = this.services.services.map(({ title }) => title)
    return freeName(this.kind.title, taken, ' ')
  }

  /** The service whose key stays; null if there is none or the owner removes it. */
  private keptOf(data: FormData): Service | null {
    return data.has('removeKey') ? null : this.edited
  }

  private readonly chooseKind = takeText((id) => {
    this.kindId = id
    this.submission.show({})
    this.renderRoot.querySelector<DgServiceTest>('dg-service-test')?.clear()
    // The key of one service is not for another.
    const key = this.renderRoot.querySelector<HTMLInputElement>('#apiKey')
    if (key) key.value = ''
  })

  private readonly test = async (): Promise<void> => {
    const form = this.renderRoot.querySelector('form')
    const element = this.renderRoot.querySelector<DgServiceTest>('dg-service-test')
    if (!form || !element || this.testing) return
    const data = new FormData(form)
    const entry = entryOf(data)
    const kept = this.keptOf(data)
    const errors = missingForTest(this.kind, kept, entry)
    this.submission.show(errors)
    if (Object.keys(errors).length > 0) return
    this.testing = true
    await element.run(triedOf(this.kind, kept, entry), entry.baseUrl)
    this.testing = false
    await element.updateComplete
    element.scrollIntoView({ block: 'nearest' })
  }

  protected override submit(data: FormData): Promise<boolean> {
    const { kind, edited } = this
    const entry = entryOf(data)
    const title = this.isMain ? (edited?.title ?? kind.title) : textIn(data, 'title')
    const api = apis.find(([name]) => name === textIn(data, 'api'))?.[0]
    const kept = this.keptOf(data)
    const apiKey = keyToSave(kind, kept, entry)
    return this.submission.send(
      async () => {
        const id = this.isMain ? mainId : (edited?.id ?? freeId(title, this.services))
        await this.app.http.put('/api/services/{id}', {
          params: { id },
          body: { kind: kind.kind, title, baseUrl: entry.baseUrl, api, apiKey },
        })
        this.onSaved(await this.app.http.get('/api/services'))
      },
      {
        title: title === '' && msg`Enter a name.`,
        ...missing(kind, kept, entry),
      },
    )
  }

  protected override form(): Form {
    const { edited, kind } = this
    const { errors } = this.submission
    return {
      heading: edited ? msg`Change ${edited.title}` : msg`Add a service`,
      action: [edited ? msg`Save` : msg`Add`, msg`Saving…`],
      fields: html`
        ${
          edited
            ? nothing
            : html`<div @change=${this.chooseKind}>
                ${choiceView(
                  'kind',
                  msg`Service`,
                  this.services.kinds.map(({ kind: id, title }) => [id, title] as const),
                )}
              </div>`
        }
        ${this.isMain ? nothing : fieldView({ name: 'title', label: msg`Name`, value: edited?.title ?? this.freeTitle(), error: errors.title })}
        ${entryFields(kind, edited, errors)} ${hintView(kind.hint)}
        ${edited?.hasKey && !kind.needsKey ? removeKeyView : nothing}
        <details class="optional">
          <summary>${msg`API`}</summary>
          ${choiceView('api', msg`How to talk to it`, apis, edited?.api)}
        </details>
        <div class="actions">
          <button class="button small" type="button" ?disabled=${this.testing} @click=${this.test}>
            <dg-icon name="plug"></dg-icon>${this.testing ? msg`Testing…` : msg`Test the connection`}
          </button>
        </div>
        <dg-service-test .app=${this.app}></dg-service-test>
      `,
    }
  }
}

const removeKeyView = html`<label class="actions">
  <input type="checkbox" name="removeKey" />${msg`Remove the key`}
</label>`

const entryOf = (data: FormData) => ({ baseUrl: textIn(data, 'baseUrl'), apiKey: textIn(data, 'apiKey') })

/** An id from a title, with a number if it is taken. */
function freeId(title: string, { services }: Services): string {
  const words = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 30)
  return freeName(words || 'service', [mainId, builtinId, ...services.map(({ id }) => id)])
}
