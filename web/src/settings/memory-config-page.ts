import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { MemoryConfig, RecallExample } from '../../../src/http/contract/memories.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { problemView, withPoint } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { recallExamplesStyles, recallExamplesView } from './recall-examples.ts'
import { rowFrame, withUnit } from './setting-row.ts'
import { settingsStyles } from './settings-styles.ts'

/** The values of the fields by name. */
type Texts = Readonly<Record<string, string>>
/** A field without a unit is no number. */
type Field = readonly [name: string, title: string, about: string, unit?: string]
type Group = { readonly heading: string; readonly about: string; readonly fields: readonly Field[] }

const groups: readonly Group[] = [
  {
    heading: msg`Finding`,
    about: msg`What to search for before each turn, and how long to wait.`,
    fields: [
      ['retrieveTimeoutMs', msg`Time limit`, msg`Memories found later are kept for the next turn.`, 'ms'],
      [
        'contextTurns',
        msg`Earlier messages in the search`,
        msg`How many of your messages before the last one to include in the search.`,
        msg`messages`,
      ],
      [
        'strengthHalfLifeDays',
        msg`Half-life of a memory`,
        msg`The age at which a memory that was used only once has lost half of its strength.`,
        msg`days`,
      ],
    ],
  },
  {
    heading: msg`Choosing`,
    about: msg`Which of the memories found to show to the model.`,
    fields: [
      ['maxInjectedMemories', msg`Maximum lines`, msg`Memories and earlier messages, per turn.`, msg`lines`],
      ['maxInjectedTokens', msg`Maximum tokens`, msg`For all memories of a turn together.`, msg`tokens`],
      [
        'duplicateThreshold',
        msg`Duplicate threshold`,
        msg`Drop a late memory if it shares at least this part of its words with what was already shown.`,
        msg`0 to 1`,
      ],
    ],
  },
  {
    heading: msg`Second opinion`,
    about: msg`A model reviews the memories found and drops those that have nothing to do with the message.`,
    fields: [
      [
        'arbitrator.enabled',
        msg`Ask a model`,
        msg`Costs one small request per turn. Skipped without a model service.`,
      ],
      ['arbitrator.model', msg`Model`, msg`Leave empty to use the utility model.`],
      ['arbitrator.timeoutMs', msg`Time limit`, msg`After that, the memories are used as found.`, 'ms'],
    ],
  },
]

/** A form for `/memory-config`, the settings of recall. */
@customElement('dg-memory-config-page')
export class DgMemoryConfigPage extends AppElement {
  static override readonly styles = [
    settingsStyles,
    recallExamplesStyles,
    css`
      .switch {
        min-height: 2.5rem;
      }
      .slider {
        display: grid;
        grid-template-columns: 1fr 1fr;
      }
      .slider input {
        grid-column: 1 / -1;
        width: 100%;
        height: 2.75rem;
        margin: 0;
      }
      .slider span:last-child {
        text-align: end;
      }
      .actions {
        position: sticky;
        bottom: 0;
        justify-content: flex-end;
        padding-block: var(--space-3);
        background: var(--paper);
      }
    `,
  ]
  private readonly config = new Loaded<MemoryConfig>(this, {
    fetch: () => this.app.http.get('/memory-config'),
  })
  private readonly examples = new Loaded<readonly RecallExample[]>(this, {
    fetch: async (signal) => (await this.app.http.get('/api/memories/recall-examples', { signal })).examples,
  })

  /** Unsaved values by name. Survives navigation to other pages. */
  private get draft(): Map<string, string> {
    return this.app.drafts.recall
  }

  private readonly edit = ({ target }: Event): void => {
    if (!(target instanceof HTMLInputElement) || this.config.value === null) return
    const { name, type, value, checked } = target
    const text = type === 'checkbox' ? String(checked) : value
    if (withPoint(text) === textsOf(this.config.value)[name]) this.draft.delete(name)
    else this.draft.set(name, text)
    this.requestUpdate()
  }

  private readonly discard = (): void => {
    this.draft.clear()
    this.submission.show({})
  }

  private async save(texts: Texts): Promise<void> {
    const names = groups.flatMap(({ fields }) => fields.flatMap(([name, , , unit]) => (unit ? [name] : [])))
    const wrong = ['relevanceThreshold', ...names].filter((name) => !Number.isFinite(numberOf(texts[name])))
    const isSaved = await this.submission.send(
      async () => {
        this.config.put(await this.app.http.put('/memory-config', { body: configOf(texts) }))
      },
      Object.fromEntries(wrong.map((name) => [name, msg`It must be a number.`])),
    )
    if (!isSaved) return
    this.draft.clear()
    this.app.toast(msg`Saved. Takes effect on the next turn.`)
    await this.examples.reload()
  }

  override render() {
    return html`<dg-page heading=${msg`Recall`}>
      <a class="back" href="/settings"><dg-icon name="chevron"></dg-icon>${msg`Settings`}</a>
      ${loadedView(this.config, msg`the settings`, (config) => this.formView(config))}
    </dg-page>`
  }

  private formView(config: MemoryConfig): TemplateResult {
    const { busy, problem } = this.submission
    const texts = { ...textsOf(config), ...Object.fromEntries(this.draft) }
    const submitted = (event: SubmitEvent) => {
      event.preventDefault()
      void this.save(texts)
    }
    return html`<form novalidate @input=${this.edit} @submit=${submitted}>
      ${this.relevanceView(config, texts)}
      ${groups.map(({ heading, about, fields }) =>
        sectionView(
          heading,
          about,
          fields.map((field) => this.rowView(field, texts)),
        ),
      )}
      ${problemView(problem)}
      <div class="actions">
        ${
          this.draft.size === 0
            ? nothing
            : html`<button class="button quiet" type="button" @click=${this.discard}>${msg`Discard`}</button>`
        }
        <button class="button primary" ?disabled=${busy}>${busy ? msg`Saving…` : msg`Save`}</button>
      </div>
    </form>`
  }

  /** The threshold as a number and a slider, and what it changes for the last messages. */
  private relevanceView(
    { relevanceThreshold: current, arbitrator }: MemoryConfig,
    texts: Texts,
  ): TemplateResult {
    const name = 'relevanceThreshold'
    const typed = texts[name] ?? ''
    const chosen = isThreshold(withPoint(typed)) ? numberOf(typed) : current
    const row = rowFrame({
      name,
      title: msg`Minimum relevance`,
      about: msg`From 0 for every memory to 1 for exact matches only.`,
      error: this.submission.errors[name],
      control: html`${this.inputView(name, typed, msg`0 to 1`)}
        <div class="slider soft">
          <input
            type="range"
            name=${name}
            aria-label=${msg`Fewer or more memories`}
            min="0"
            max="1"
            step="0.01"
            ?disabled=${this.submission.busy}
            .value=${String(chosen)}
          />
          <span>${msg`More memories`}</span>
          <span>${msg`Fewer memories`}</span>
        </div>`,
    })
    return sectionView(
      msg`Relevance`,
      msg`How well a memory or an earlier message must fit your message to be shown to the model.`,
      html`${row}
        <div class="body">
          <h3 class="subhead">${msg`Your last messages`}</h3>
          <p class="soft">
            ${msg`What the model would be shown if each opened a new conversation.`}
            ${arbitrator.enabled ? msg`The second opinion may drop some of it.` : nothing}
          </p>
          ${recallExamplesView(this.examples, { chosen, current })}
        </div>`,
    )
  }

  private rowView([name, title, about, unit]: Field, texts: Texts): TemplateResult {
    const error = this.submission.errors[name]
    if (name === 'arbitrator.enabled') {
      const control = html`<span class="beside switch">
        <input type="checkbox" id=${name} name=${name} .checked=${texts[name] === 'true'} />${msg`On`}
      </span>`
      return rowFrame({ name, title, about, error, control })
    }
    const control = this.inputView(name, texts[name] ?? '', unit)
    return rowFrame({ name, title, about, error, control })
  }

  private inputView(name: string, value: string, unit: string | undefined): TemplateResult {
    const input = html`<input
      class="input small"
      id=${name}
      name=${name}
      inputmode=${unit === undefined ? nothing : 'decimal'}
      autocomplete="off"
      spellcheck="false"
      ?readonly=${this.submission.busy}
      placeholder=${unit === undefined ? msg`Utility model` : nothing}
      aria-invalid=${this.submission.errors[name] !== undefined}
      aria-describedby="${name}-about ${name}-error"
      .value=${value}
    />`
    return withUnit(input, unit ?? null)
  }
}

function sectionView(heading: string, about: string, content: unknown): TemplateResult {
  return html`<section class="card section">
    <header>
      <div>
        <h2>${heading}</h2>
        <p class="soft">${about}</p>
      </div>
    </header>
    ${content}
  </section>`
}

function isThreshold(text: string): boolean {
  return text.trim() !== '' && Number(text) >= 0 && Number(text) <= 1
}

/** The config as its fields show it. */
function textsOf({ arbitrator, ...recall }: MemoryConfig): Texts {
  const nested = Object.entries(arbitrator).map(([name, value]) => [`arbitrator.${name}`, value])
  const values = [...Object.entries(recall), ...nested]
  return Object.fromEntries(values.map(([name, value]) => [name, String(value ?? '')]))
}

/** Not a number if the field has none. */
const numberOf = (text = ''): number => Number(withPoint(text).trim() || Number.NaN)

function configOf(texts: Texts): MemoryConfig {
  const numberIn = (name: string) => numberOf(texts[name])
  return {
    retrieveTimeoutMs: numberIn('retrieveTimeoutMs'),
    contextTurns: numberIn('contextTurns'),
    maxInjectedTokens: numberIn('maxInjectedTokens'),
    maxInjectedMemories: numberIn('maxInjectedMemories'),
    relevanceThreshold: numberIn('relevanceThreshold'),
    duplicateThreshold: numberIn('duplicateThreshold'),
    strengthHalfLifeDays: numberIn('strengthHalfLifeDays'),
    arbitrator: {
      enabled: texts['arbitrator.enabled'] === 'true',
      model: texts['arbitrator.model']?.trim() || null,
      timeoutMs: numberIn('arbitrator.timeoutMs'),
    },
  }
}
