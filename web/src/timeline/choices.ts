import { css, html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { AnswerOf } from '../api/routes.ts'
import { AppElement } from '../app/app-element.ts'
import { planStyles, planView } from '../app/erasure-plan.ts'
import { Loaded, waitingView } from '../app/loaded.ts'
import { problemView } from '../design/field.ts'
import { shortDateText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { kindText } from './erasure-kinds.ts'
import { shownText } from './shown-text.ts'

type Choice = NonNullable<AnswerOf<'/api/proposals'>['proposals'][number]['choices']>[number]

/**
 * What the owner may choose to forget, and what goes and stays for the current choice. Nothing is chosen at first,
 * unless there is only one candidate. Tells the choice by an event `chosen`.
 */
@customElement('dg-choices')
export class DgChoices extends AppElement {
  static override readonly styles = [
    planStyles,
    css`
      fieldset {
        margin: 0;
        padding: 0;
        border: 1px solid var(--line);
        border-radius: var(--radius-md);
        overflow: clip;
      }
      label,
      .only {
        display: flex;
        align-items: start;
        gap: var(--space-3);
        min-height: 2.75rem;
        padding: 0.625rem var(--space-3);
      }
      label {
        cursor: pointer;
      }
      label + label {
        border-top: 1px solid var(--line);
      }
      label:has(:checked) {
        background: var(--sunken);
      }
      input {
        margin-top: 0.2em;
      }
      .text {
        unicode-bidi: plaintext;
      }
      summary {
        padding: 0;
      }
      .about {
        display: block;
      }
    `,
  ]
  @property({ attribute: false }) proposalId!: string
  @property({ type: Boolean }) reachable = false
  @state() private chosen: readonly string[] = []
  private readonly offered = new Loaded<readonly Choice[]>(this, {
    fetch: async (signal) => {
      const { proposals } = await this.app.http.get('/api/proposals', { signal })
      return proposals.find(({ id }) => id === this.proposalId)?.choices ?? []
    },
    concerns: (type) => type.startsWith('erasure.') || type.startsWith('memory.') || type === 'erased',
  })
  private readonly plan = new Loaded<AnswerOf<'/api/erasures.plan'> | null>(this, {
    fetch: async (signal) => {
      const query = { kind: 'words', chosen: this.chosen.join(',') } as const
      return query.chosen === '' ? null : this.app.http.get('/api/erasures.plan', { query, signal })
    },
  })

  private get choices(): readonly Choice[] {
    return this.offered.value ?? []
  }

  protected override willUpdate(_changed: PropertyValues<this>): void {
    const ids = this.choices.map(({ id }) => id)
    const [only, ...others] = ids
    const kept =
      only !== undefined && others.length === 0 ? [only] : this.chosen.filter((id) => ids.includes(id))
    if (kept.join() !== this.chosen.join()) this.choose(kept)
  }

  private choose(ids: readonly string[]): void {
    this.chosen = ids
    this.dispatchEvent(new CustomEvent('chosen', { detail: ids }))
    this.plan.readAfterTyping()
  }

  private toggle(id: string): void {
    const isChosen = (each: string) => this.chosen.includes(each) !== (each === id)
    this.choose(this.choices.map((choice) => choice.id).filter(isChosen))
  }

  override render(): TemplateResult {
    const { offered, plan, choices } = this
    if (offered.value === null)
      return offered.problem === ''
        ? waitingView(msg`Loading what matches`, 2)
        : html`${problemView(offered.problem)}<button class="button small" @click=${offered.reload}>${msg`Try again`}</button>`
    if (choices.length === 0) return html`<p class="soft">${msg`Nothing is left to forget here.`}</p>`
    return html`${this.choicesView()} ${this.planView()} ${problemView(plan.problem)}`
  }

  /** In short, because a longer card would move the boxes away. */
  private planView(): TemplateResult {
    const { value, loading } = this.plan
    if (value === null || this.chosen.length === 0)
      return html`<p class="soft">${msg`Nothing is forgotten until you choose.`}</p>`
    const kept = value.stays.map(
      ({ kind, count }) => kindText(kind, count) + (kind === 'message' ? msg` (no longer used)` : ''),
    )
    return html`<details aria-busy=${loading}>
      <summary>
        ${msg`Erased:`} ${listText([...value.named, ...value.derived].map(({ kind, count }) => kindText(kind, count)))}<br />${msg`Kept: ${listText(kept)}`}
      </summary>
      ${planView(value)}
    </details>`
  }

  private choicesView(): TemplateResult {
    const { choices, chosen } = this
    const [only, ...others] = choices
    if (only && others.length === 0) return html`<div class="groups only">${wordsOf(only)}</div>`
    const areAll = chosen.length === choices.length
    return html`<fieldset aria-label=${msg`What to forget`}>
      ${choices.map((choice) => this.boxView(chosen.includes(choice.id), wordsOf(choice), () => this.toggle(choice.id)))}
      ${
        choices.length < 3
          ? nothing
          : this.boxView(areAll, html`${msg`All of these`}`, () =>
              this.choose(areAll ? [] : choices.map(({ id }) => id)),
            )
      }
    </fieldset>`
  }

  private boxView(checked: boolean, words: TemplateResult, change: () => void): TemplateResult {
    return html`<label>
      <input type="checkbox" tabindex=${this.reachable ? 0 : -1} .checked=${checked} @change=${change} />${words}
    </label>`
  }
}

function listText(kinds: readonly string[]): string {
  return kinds.length === 0 ? msg`nothing` : kinds.join(', ')
}

function wordsOf({ kind, text, at }: Choice): TemplateResult {
  return html`<span class="what text"
    >${shownText(text)}<span class="tiny about"
      >${kind === 'memory' ? msg`Memory` : msg`You said`}, <time datetime=${at}>${shortDateText(at)}</time></span
    ></span
  >`
}
