import { css, html, LitElement, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { MemoryConfig } from '../../../src/http/contract/memories.ts'
import type { App } from '../app/app.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { Submission } from '../app/submission.ts'
import { controls } from '../design/controls.ts'
import { problemView } from '../design/field.ts'
import '../design/icon.ts'
import '../design/page.ts'
import { settingsStyles } from './settings-styles.ts'

type NumberKey = Exclude<keyof MemoryConfig, 'arbitrator'>
type NumberField = readonly [key: NumberKey, title: string, about: string, unit: string]
type Group = { readonly heading: string; readonly about: string; readonly fields: readonly NumberField[] }

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

  private input(name: string): HTMLInputElement | null {
    return this.renderRoot.querySelector<HTMLInputElement>(`[name="${name}"]`)
  }

  /** Reads the form. Adds the names of fields without a valid number to `wrong`. */
  private read(wrong: string[]): MemoryConfig {
    const number = (name: string) => {
      const text = this.input(name)?.value.trim() ?? ''
      if (text === '' || !Number.isFinite(Number(text))) wrong.push(name)
      return Number(text)
    }
    return {
      retrieveTimeoutMs: number('retrieveTimeoutMs'),
      contextTurns: number('contextTurns'),
      maxInjectedTokens: number('maxInjectedTokens'),
      maxInjectedMemories: number('maxInjectedMemories'),
      relevanceThreshold: number('relevanceThreshold'),
      duplicateThreshold: number('duplicateThreshold'),
      strengthHalfLifeDays: number('strengthHalfLifeDays'),
      arbitrator: {
        enabled: this.input('arbitrator.enabled')?.checked ?? false,
        model: this.input('arbitrator.model')?.value.trim() || null,
        timeoutMs: number('arbitrator.timeoutMs'),
      },
    }
  }

  private readonly save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const wrong: string[] = []
    const wanted = this.read(wrong)
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
          ${fields.map(([key, title, about, unit]) =>
            this.rowView(key, title, about, this.numberView(key, config[key], unit)),
          )}
        </section>`,
      )}
      ${this.arbitratorView(config.arbitrator)}
      ${problemView(problem)}
      <div class="actions">
        <button class="button primary" ?disabled=${busy}>${busy ? 'Saving…' : 'Save'}</button>
      </div>
    </form>`
  }

  private arbitratorView(arbitrator: MemoryConfig['arbitrator']): TemplateResult {
    const enabled = html`<span class="switch"
      ><input type="checkbox" id="arbitrator.enabled" name="arbitrator.enabled" .checked=${arbitrator.enabled} />On</span
    >`
    const model = html`<input
      class="input"
      id="arbitrator.model"
      name="arbitrator.model"
      autocomplete="off"
      spellcheck="false"
      ?readonly=${this.submission.busy}
      placeholder="Utility model"
      aria-invalid=${this.submission.errors['arbitrator.model'] !== undefined}
      aria-describedby="arbitrator.model-error"
      .value=${arbitrator.model ?? ''}
    />`
    return html`<section class="card section">
      <header>
        <div>
          <h2>Second opinion</h2>
          <p class="soft">A model reviews the memories found and drops those that have nothing to do with the message.</p>
        </div>
      </header>
      ${this.rowView('arbitrator.enabled', 'Ask a model', 'Costs one small request per turn. Skipped without a model service.', enabled)}
      ${this.rowView('arbitrator.model', 'Model', 'Leave empty to use the utility model.', model)}
      ${this.rowView(
        'arbitrator.timeoutMs',
        'Time limit',
        'After that, the memories are used as found.',
        this.numberView('arbitrator.timeoutMs', arbitrator.timeoutMs, 'ms'),
      )}
    </section>`
  }

  private numberView(name: string, value: number, unit: string): TemplateResult {
    return html`<div class="with-unit">
      <input
        class="input"
        id=${name}
        name=${name}
        inputmode="decimal"
        autocomplete="off"
        ?readonly=${this.submission.busy}
        aria-invalid=${this.submission.errors[name] !== undefined}
        aria-describedby="${name}-about ${name}-error"
        .value=${String(value)}
      /><span class="soft">${unit}</span>
    </div>`
  }

  private rowView(name: string, title: string, about: string, control: TemplateResult): TemplateResult {
    const error = this.submission.errors[name]
    return html`<div class="setting">
      <div>
        <label for=${name}>${title}</label>
        <p class="soft" id="${name}-about">${about}</p>
      </div>
      <div class="control">
        ${control}
        <div id="${name}-error">
          ${error === undefined ? nothing : html`<span class="field-error"><dg-icon name="warning"></dg-icon>${error}</span>`}
        </div>
      </div>
    </div>`
  }
}
