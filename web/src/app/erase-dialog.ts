import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { ErasureTarget } from '../../../src/http/contract/erasures.ts'
import type { AnswerOf } from '../api/routes.ts'
import { fieldView, problemView } from '../design/field.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'
import { instantOf, wallMinute } from '../design/owner-time.ts'
import type { App } from './app.ts'
import type { AppElement } from './app-element.ts'
import { DialogElement } from './dialog-element.ts'
import { planStyles, planView } from './erasure-plan.ts'
import { Loaded, waitingView } from './loaded.ts'

export type Erasing = {
  readonly heading: string
  /** What to erase: a given target, or a period that the owner chooses in the dialog. */
  readonly target: ErasureTarget | 'period'
  readonly note?: string
  /** Called once the target is hidden. */
  readonly onErasing?: () => void
  /** Called once the target is hidden, and again if the owner undoes it. */
  readonly onChange?: () => void
}

/** Shows what an erasure takes along, asks for confirmation, and offers Undo in a toast afterwards. */
export function askToErase(host: AppElement, erasing: Erasing): void {
  Object.assign(new DgEraseDialog(), { erasing }).openIn(host)
}

type ErasurePlan = AnswerOf<'/api/erasures.plan'>

const stretches: readonly (readonly [string, number])[] = [
  [msg`Last hour`, 3_600_000],
  [msg`Last 24 hours`, 86_400_000],
  [msg`Last 7 days`, 7 * 86_400_000],
]

@customElement('dg-erase-dialog')
export class DgEraseDialog extends DialogElement {
  static override readonly styles = [
    planStyles,
    css`
      .stretch {
        margin-bottom: var(--space-4);
      }
      .ends {
        grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr));
      }
      .fine {
        display: flex;
        gap: var(--space-2);
        margin-top: var(--space-4);
      }
      .fine dg-icon {
        margin-top: 0.15em;
      }
    `,
  ]
  @property({ attribute: false }) erasing!: Erasing
  @state() private from: string = wallMinute(new Date(Date.now() - 3_600_000))
  @state() private to: string = wallMinute(new Date())
  private readonly loaded = new Loaded<ErasurePlan | null>(this, {
    fetch: async (signal) => {
      const query = this.target()
      return query && (await this.app.http.get('/api/erasures.plan', { query, signal }))
    },
  })

  private target(): ErasureTarget | null {
    const { target } = this.erasing
    if (target !== 'period') return target
    const [from, to] = [instantOf(this.from), instantOf(this.to)]
    if (from === null || to === null || from >= to) return null
    // The end is inclusive: its whole minute is erased.
    return { kind: 'period', from: from.toISOString(), to: new Date(to.getTime() + 60_000).toISOString() }
  }

  private choose(lastMs: number): void {
    const now = Date.now()
    this.from = wallMinute(new Date(now - lastMs))
    this.to = wallMinute(new Date(now))
    this.submission.show('')
    void this.loaded.reload()
  }

  /** What will be erased, unless it is being loaded. */
  private get plan(): ErasurePlan | null {
    const { loading, problem, value } = this.loaded
    return loading || problem !== '' ? null : value
  }

  private readonly confirm = async (): Promise<void> => {
    const target = this.target()
    const { app, erasing, plan } = this
    if (!target || !plan) return
    const isDone = await this.submission.send(async () => {
      const { id } = await app.http.post('/api/erasures', { body: target })
      const undo = async (): Promise<void> => {
        await app.http.post('/api/erasures/{id}/undo', { params: { id } })
        app.toast(msg`Restored.`)
        erasing.onChange?.()
      }
      const dismiss = app.offerUndo(
        msg`Hidden. It will be erased for good in a minute.`,
        undo,
        plan.undoMs - 2000,
      )
      dismissOnEnd(app, id, dismiss)
    })
    if (!isDone) return
    this.close()
    erasing.onErasing?.()
    erasing.onChange?.()
  }

  override render() {
    const { erasing, plan, loaded } = this
    const { busy } = this.submission
    const isChosen = this.from !== '' && this.to !== ''
    const wrong = isChosen ? msg`The end must be after the start.` : msg`Choose a date and time.`
    const problem = this.target() ? loaded.problem : wrong
    const isPeriod = erasing.target === 'period'
    return html`<dg-dialog heading=${erasing.heading}>
      ${isPeriod ? this.stretchView() : nothing}
      ${loaded.loading ? waitingView(msg`Loading what will be erased`, 2) : plan ? planView(plan) : nothing}
      ${problemView(loaded.loading ? '' : this.submission.problem || problem)}
      ${isPeriod && plan ? filesView(plan) : nothing}
      ${erasing.note === undefined ? nothing : fineView('warning', erasing.note)}
      ${fineView('erased', msg`Hidden immediately and erased for good after one minute. You can undo it until then. The timeline records that something was erased, but not what.`)}
      <div slot="actions">
        <button class="button" autofocus @click=${this.close}>${msg`Cancel`}</button>
        <button
          class="button danger"
          ?disabled=${busy || plan === null}
          @click=${this.confirm}
        >
          ${busy ? msg`One moment…` : msg`Erase`}
        </button>
      </div>
    </dg-dialog>`
  }

  private stretchView(): TemplateResult {
    const typed = ({ target }: Event): void => {
      if (!(target instanceof HTMLInputElement)) return
      this[target.name === 'to' ? 'to' : 'from'] = target.value
      this.submission.show('')
      this.loaded.readAfterTyping()
    }
    return html`<div class="stack stretch">
      <div class="actions">
        ${stretches.map(
          ([label, lastMs]) =>
            html`<button class="button small" @click=${() => this.choose(lastMs)}>${label}</button>`,
        )}
      </div>
      <div class="stack ends" @input=${typed}>
        ${fieldView({ name: 'from', label: msg`From`, type: 'datetime-local', value: this.from })}
        ${fieldView({ name: 'to', label: msg`To`, type: 'datetime-local', value: this.to })}
      </div>
    </div>`
  }
}

/** Withdraws the offer to undo once the erasure is undone, here or elsewhere, or completed. */
function dismissOnEnd(app: App, id: string, dismiss: () => void): void {
  const session = app.chat()
  const unfollow = session.follow(() => {
    if (session.isErasurePending(id)) return
    dismiss()
    unfollow()
  })
}

/** Erasing an instruction deletes its file too, so that the file does not bring it back. */
function filesView({ named, derived }: ErasurePlan): TemplateResult | typeof nothing {
  if (![...named, ...derived].some(({ kind }) => kind === 'adaptation')) return nothing
  return fineView('warning', msg`For instructions loaded from files, the files are deleted too.`)
}

function fineView(icon: IconName, text: string): TemplateResult {
  return html`<p class="fine soft"><dg-icon name=${icon}></dg-icon><span>${text}</span></p>`
}
