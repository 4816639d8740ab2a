import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { MemoryConfig, RecallExample } from '../../../src/http/contract/memories.ts'
import { AppElement } from '../app/app-element.ts'
import { textIn } from '../app/form-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { problemView, takeText, withPoint } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { recallExamplesStyles, recallExamplesView } from './recall-examples.ts'
import { rowFrame, withUnit } from './setting-row.ts'
import { settingsStyles } from './settings-styles.ts'

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
  /** The threshold as typed or moved; null if it is the current one. */
  @state() private threshold: string | null = null

  private readonly save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (!(event.target instanceof HTMLFormElement)) return
    const data = new FormData(event.target)
    const wanted = configIn(data)
    const names = groups.flatMap(({ fields }) => fields.flatMap(([name, , , unit]) => (unit ? [name] : [])))
    const wrong = ['relevanceThreshold', ...names].filter((name) => !Number.isFinite(numberIn(data, name)))
    const isSaved = await this.submission.send(
      async () => {
        this.config.put(await this.app.http.put('/memory-config', { body: wanted }))
      },
      Object.fromEntries(wrong.map((name) => [name, msg`It must be a number.`])),
    )
    if (!isSaved) return
    this.threshold = null
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
    return html`<form novalidate @submit=${this.save}>
      ${this.relevanceView(config)}
      ${groups.map(({ heading, about, fields }) =>
        sectionView(
          heading,
          about,
          fields.map((field) => this.rowView(field, config)),
        ),
      )}
      ${problemView(problem)}
      <div class="actions">
        <button class="button primary" ?disabled=${busy}>${busy ? msg`Saving…` : msg`Save`}</button>
      </div>
    </form>`
  }

  /** The threshold as a number and a slider, and what it changes for the last messages. */
  private relevanceView({ relevanceThreshold: current, arbitrator }: MemoryConfig): TemplateResult {
    const name = 'relevanceThreshold'
    const typed = this.threshold ?? String(current)
    const chosen = isThreshold(typed) ? Number(typed) : current
    const move = takeText((text) => {
      this.threshold = withPoint(text)
    })
    const row = rowFrame({
      name,
      title: msg`Minimum relevance`,
      about: msg`From 0 for every memory to 1 for exact matches only.`,
      error: this.submission.errors[name],
      control: html`${this.inputView(name, typed, msg`0 to 1`, move)}
        <div class="slider soft">
          <input
            type="range"
            aria-label=${msg`Fewer or more memories`}
            min="0"
            max="1"
            step="0.01"
            ?disabled=${this.submission.busy}
            .value=${String(chosen)}
            @input=${move}
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

  private rowView([name, title, about, unit]: Field, config: MemoryConfig): TemplateResult {
    const error = this.submission.errors[name]
    if (name === 'arbitrator.enabled') {
      const control = html`<span class="beside switch">
        <input type="checkbox" id=${name} name=${name} .checked=${config.arbitrator.enabled} />${msg`On`}
      </span>`
      return rowFrame({ name, title, about, error, control })
    }
    const { arbitrator, ...recall } = config
    const values: Readonly<Record<string, string | number | null>> = {
      ...recall,
      'arbitrator.model': arbitrator.model,
      'arbitrator.timeoutMs': arbitrator.timeoutMs,
    }
    const control = this.inputView(name, String(values[name] ?? ''), unit)
    return rowFrame({ name, title, about, error, control })
  }

  private inputView(
    name: string,
    value: string,
    unit: string | undefined,
    take?: (event: Event) => void,
  ): TemplateResult {
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
      @input=${take}
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

/** Not a number if the field has none. */
function numberIn(data: FormData, name: string): number {
  return Number(withPoint(textIn(data, name)) || Number.NaN)
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
