import { css, html, LitElement, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { MemoryConfig } from '../../../src/http/contract/memories.ts'
import type { App } from '../app/app.ts'
import { textIn } from '../app/form-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { Submission } from '../app/submission.ts'
import { controls } from '../design/controls.ts'
import { problemView } from '../design/field.ts'
import { rowFrame, withUnit } from './setting-row.ts'
import { settingsStyles } from './settings-styles.ts'

/** A field without a unit is no number. */
type Field = readonly [name: string, title: string, about: string, unit?: string]
type Group = { readonly heading: string; readonly about: string; readonly fields: readonly Field[] }

const groups: readonly Group[] = [
  {
    heading: 'Finding',
    about: 'What to search for before each turn, and how long to wait.',
    fields: [
      ['retrieveTimeoutMs', 'Time limit', 'Memories found later are kept for the next turn.', 'ms'],
      [
        'contextTurns',
        'Earlier messages in the search',
        'How many of your messages before the last one to include in the search.',
        'messages',
      ],
      [
        'strengthHalfLifeDays',
        'Half-life of a memory',
        'The age at which a memory that was used only once has lost half of its strength.',
        'days',
      ],
    ],
  },
  {
    heading: 'Choosing',
    about: 'Which of the memories found to show to the model.',
    fields: [
      ['maxInjectedMemories', 'Maximum lines', 'Memories and earlier messages, per turn.', 'lines'],
      ['maxInjectedTokens', 'Maximum tokens', 'For all memories of a turn together.', 'tokens'],
      [
        'relevanceThreshold',
        'Minimum relevance',
        'From 0 for every memory to 1 for exact matches only.',
        '0 to 1',
      ],
      [
        'duplicateThreshold',
        'Duplicate threshold',
        'Drop a late memory if it shares at least this part of its words with what was already shown.',
        '0 to 1',
      ],
    ],
  },
  {
    heading: 'Second opinion',
    about: 'A model reviews the memories found and drops those that have nothing to do with the message.',
    fields: [
      [
        'arbitrator.enabled',
        'Ask a model',
        'Costs one small request per turn. Skipped without a model service.',
      ],
      ['arbitrator.model', 'Model', 'Leave empty to use the utility model.'],
      ['arbitrator.timeoutMs', 'Time limit', 'After that, the memories are used as found.', 'ms'],
    ],
  },
]

/** A form for `/memory-config`, the settings of recall. */
@customElement('dg-memory-config-page')
export class DgMemoryConfigPage extends LitElement {
  static override readonly styles = [
    controls,
    settingsStyles,
    css`
      .switch {
        display: flex;
        align-items: center;
        gap: var(--space-2);
        min-height: 2.5rem;
      }
      .switch input {
        width: 1.25rem;
        height: 1.25rem;
        accent-color: var(--accent);
      }
      .actions {
        justify-content: flex-end;
      }
    `,
  ]
  @property({ attribute: false }) app!: App
  private readonly config = new Loaded<MemoryConfig>(this, {
    fetch: () => this.app.http.get('/memory-config'),
  })
  private readonly submission = new Submission(this)

  private readonly save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (!(event.target instanceof HTMLFormElement)) return
    const data = new FormData(event.target)
    const wanted = configIn(data)
    const names = groups.flatMap(({ fields }) => fields.flatMap(([name, , , unit]) => (unit ? [name] : [])))
    const wrong = names.filter((name) => !Number.isFinite(numberIn(data, name)))
    const isSaved = await this.submission.send(
      async () => {
        this.config.put(await this.app.http.put('/memory-config', { body: wanted }))
      },
      Object.fromEntries(wrong.map((name) => [name, 'It must be a number.'])),
    )
    if (isSaved) this.app.toast('Saved. Takes effect on the next turn.')
  }

  override render() {
    return html`<dg-page heading="Recall">
      <a class="back" href="/settings"><dg-icon name="chevron"></dg-icon>Settings</a>
      ${loadedView(this.config, 'the settings', (config) => this.formView(config), 'This form')}
    </dg-page>`
  }

  private formView(config: MemoryConfig): TemplateResult {
    const { busy, problem } = this.submission
    return html`<form novalidate @submit=${this.save}>
      ${groups.map(
        ({ heading, about, fields }) => html`<section class="card section">
          <header>
            <div>
              <h2>${heading}</h2>
              <p class="soft">${about}</p>
            </div>
          </header>
          ${fields.map((field) => this.rowView(field, config))}
        </section>`,
      )}
      ${problemView(problem)}
      <div class="actions">
        <button class="button primary" ?disabled=${busy}>${busy ? 'Saving…' : 'Save'}</button>
      </div>
    </form>`
  }

  private rowView([name, title, about, unit]: Field, config: MemoryConfig): TemplateResult {
    const error = this.submission.errors[name]
    if (name === 'arbitrator.enabled') {
      const control = html`<span class="switch">
        <input type="checkbox" id=${name} name=${name} .checked=${config.arbitrator.enabled} />On
      </span>`
      return rowFrame({ name, title, about, error, control })
    }
    const { arbitrator, ...recall } = config
    const values: Readonly<Record<string, string | number | null>> = {
      ...recall,
      'arbitrator.model': arbitrator.model,
      'arbitrator.timeoutMs': arbitrator.timeoutMs,
    }
    const input = html`<input
      class="input small"
      id=${name}
      name=${name}
      inputmode=${unit === undefined ? nothing : 'decimal'}
      autocomplete="off"
      spellcheck="false"
      ?readonly=${this.submission.busy}
      placeholder=${unit === undefined ? 'Utility model' : nothing}
      aria-invalid=${error !== undefined}
      aria-describedby="${name}-about ${name}-error"
      .value=${String(values[name] ?? '')}
    />`
    return rowFrame({ name, title, about, error, control: withUnit(input, unit ?? null) })
  }
}

/** Not a number if the field has none. */
function numberIn(data: FormData, name: string): number {
  return Number(textIn(data, name) || Number.NaN)
}

function configIn(data: FormData): MemoryConfig {
  return {
    retrieveTimeoutMs: numberIn(data, 'retrieveTimeoutMs'),
    contextTurns: numberIn(data, 'contextTurns'),
    maxInjectedTokens: numberIn(data, 'maxInjectedTokens'),
    maxInjectedMemories: numberIn(data, 'maxInjectedMemories'),
    relevanceThreshold: numberIn(data, 'relevanceThreshold'),
    duplicateThreshold: numberIn(data, 'duplicateThreshold'),
    strengthHalfLifeDays: numberIn(data, 'strengthHalfLifeDays'),
    arbitrator: {
      enabled: data.has('arbitrator.enabled'),
      model: textIn(data, 'arbitrator.model') || null,
      timeoutMs: numberIn(data, 'arbitrator.timeoutMs'),
    },
  }
}
