import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit'
import type { App } from '../app/app.ts'
import { offerUndo } from '../app/erasure-toast.ts'
import { type ErasurePlan, type ErasureTarget, fetchErasurePlan, requestErasure } from '../data/erasures.ts'
import { explain, Refused } from '../data/http.ts'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { problemView } from '../design/field.ts'
import '../design/icon.ts'
import { planStyles, planView } from './erasure-plan.ts'
import { instantOf, wallMinute } from './owner-time.ts'

/** What the dialog asks about: one thing, or a stretch of time that it lets the owner choose. */
export type Erasing =
  | { readonly heading: string; readonly target: ErasureTarget; readonly note?: string }
  | { readonly heading: string; readonly target: 'period' }

const typingPauseMs = 350
const stretches: readonly (readonly [string, number])[] = [
  ['Last hour', 3_600_000],
  ['Last 24 hours', 86_400_000],
  ['Last 7 days', 7 * 86_400_000],
]

/**
 * Asks before anything is erased, and lists first what goes with it. Then it is hidden at once, and the news of it
 * offers to undo it for as long as that is possible. Fires `erasing` once it is hidden, `undone` where it came back.
 */
export class DgEraseDialog extends LitElement {
  static override readonly properties = {
    app: { attribute: false },
    erasing: { attribute: false },
    from: { state: true },
    to: { state: true },
    plan: { state: true },
    looking: { state: true },
    busy: { state: true },
    problem: { state: true },
  }
  static override readonly styles = [
    controls,
    planStyles,
    css`
      .stretch {
        display: grid;
        gap: var(--space-3);
        margin-bottom: var(--space-4);
      }
      .ends {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr));
        gap: var(--space-3);
      }
      .choices {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-2);
      }
      .fine {
        display: flex;
        gap: var(--space-2);
        margin-top: var(--space-4);
        color: var(--ink-soft);
        font-size: var(--text-sm);
      }
      .fine dg-icon {
        margin-top: 0.15em;
      }
      .waiting {
        height: 2.5rem;
        margin-bottom: var(--space-2);
        border-radius: var(--radius-md);
        background: var(--line);
        opacity: 0.5;
      }
    `,
  ]
  declare app: App
  declare erasing: Erasing | null
  declare private from: string
  declare private to: string
  declare private plan: ErasurePlan | null
  declare private looking: boolean
  declare private busy: boolean
  declare private problem: string
  private search: AbortController | null = null
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor() {
    super()
    this.erasing = null
    this.from = ''
    this.to = ''
    this.plan = null
    this.looking = false
    this.busy = false
    this.problem = ''
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.search?.abort()
    clearTimeout(this.timer)
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('erasing')) return
    this.search?.abort()
    this.plan = null
    this.problem = ''
    if (this.erasing?.target === 'period') this.choose(3_600_000)
    else if (this.erasing) this.lookSoon(0)
  }

  private target(): ErasureTarget | null {
    const target = this.erasing?.target ?? null
    if (target !== 'period') return target
    const [from, to] = [instantOf(this.from), instantOf(this.to)]
    if (from === null || to === null || from >= to) return null
    // The minute that is named belongs to it.
    return { kind: 'period', from: from.toISOString(), to: new Date(to.getTime() + 60_000).toISOString() }
  }

  private choose(lastMs: number): void {
    const now = Date.now()
    this.from = wallMinute(new Date(now - lastMs))
    this.to = wallMinute(new Date(now))
    this.lookSoon(0)
  }

  private lookSoon(pauseMs: number): void {
    clearTimeout(this.timer)
    this.looking = true
    this.timer = setTimeout(() => void this.look(), pauseMs)
  }

  private async look(): Promise<void> {
    this.search?.abort()
    const search = new AbortController()
    this.search = search
    const target = this.target()
    this.plan = null
    this.problem = target ? '' : 'The end must be after the beginning.'
    this.looking = target !== null
    if (!target) return
    try {
      this.plan = await fetchErasurePlan(this.app.http, target, search.signal)
    } catch (error) {
      if (search.signal.aborted) return
      const isEmpty = error instanceof Refused && error.problem.code === 'nothing_to_erase'
      this.problem = isEmpty && target.kind === 'period' ? 'Nothing was said in that time.' : explain(error)
    }
    if (this.search === search) this.looking = false
  }

  private readonly closed = (): void => {
    this.dispatchEvent(new Event('close'))
  }

  private readonly goAhead = async (): Promise<void> => {
    const target = this.target()
    if (!target || !this.plan || this.busy) return
    const { undoMs } = this.plan
    this.busy = true
    try {
      const id = await requestErasure(this.app.http, target)
      this.closed()
      this.dispatchEvent(new Event('erasing'))
      offerUndo(this.app, { id, undoMs, onUndone: () => this.dispatchEvent(new Event('undone')) })
    } catch (error) {
      this.problem = explain(error)
    } finally {
      this.busy = false
    }
  }

  override render() {
    const { erasing, plan } = this
    return html`<dg-dialog heading=${erasing?.heading ?? ''} .open=${erasing !== null} @close=${this.closed}>
      ${erasing?.target === 'period' ? this.stretchView() : nothing}
      ${this.looking ? lookingView() : plan ? planView(plan) : nothing}
      ${problemView(this.problem)}
      ${erasing?.target === 'period' && plan ? filesView(plan) : nothing}
      ${
        erasing && erasing.target !== 'period' && erasing.note
          ? html`<p class="fine"><dg-icon name="warning"></dg-icon><span>${erasing.note}</span></p>`
          : nothing
      }
      <p class="fine">
        <dg-icon name="erased"></dg-icon>
        <span>
          Hidden at once, and erased for good after a minute; until then you can undo it. The timeline keeps that
          something was erased, not what.
        </span>
      </p>
      <div slot="actions">
        <button class="button" autofocus @click=${this.closed}>Cancel</button>
        <button
          class="button danger"
          ?disabled=${this.busy || this.looking || plan === null}
          @click=${() => void this.goAhead()}
        >
          ${this.busy ? 'One moment…' : 'Erase'}
        </button>
      </div>
    </dg-dialog>`
  }

  private stretchView(): TemplateResult {
    const end = (label: string, name: 'from' | 'to') => html`<div class="field">
      <label for=${name}>${label}</label>
      <input
        class="input"
        id=${name}
        type="datetime-local"
        .value=${this[name]}
        @input=${(event: Event) => {
          if (!(event.target instanceof HTMLInputElement)) return
          this[name] = event.target.value
          this.lookSoon(typingPauseMs)
        }}
      />
    </div>`
    return html`<div class="stretch">
      <div class="choices">
        ${stretches.map(
          ([label, lastMs]) =>
            html`<button class="button small" @click=${() => this.choose(lastMs)}>${label}</button>`,
        )}
      </div>
      <div class="ends">${end('From', 'from')}${end('To', 'to')}</div>
    </div>`
  }
}

/** What was read from a file would come back with it. */
function filesView({ named, derived }: ErasurePlan): TemplateResult | typeof nothing {
  if (![...named, ...derived].some(({ kind }) => kind === 'adaptation')) return nothing
  return html`<p class="fine">
    <dg-icon name="warning"></dg-icon>
    <span>Instructions that were read from files then go with their files.</span>
  </p>`
}

function lookingView(): TemplateResult {
  return html`<div role="status" aria-label="Looking for what belongs to it">
    <div class="waiting"></div>
    <div class="waiting"></div>
  </div>`
}

customElements.define('dg-erase-dialog', DgEraseDialog)
