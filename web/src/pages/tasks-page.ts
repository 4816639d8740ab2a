import { css, html, LitElement, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import type { App } from '../app/app.ts'
import { explain } from '../data/http.ts'
import { cancelTask, fetchTasks, retryTask, type Task } from '../data/tasks.ts'
import { cards } from '../design/cards.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'
import '../design/page.ts'
import '../design/state.ts'
import '../view/confirm-dialog.ts'
import type { Confirmation } from '../view/confirm-dialog.ts'
import '../view/task-card.ts'
import '../view/task-dialog.ts'

/** "running for 12 s" must not stand still. */
const tickMs = 1_000
const pageTasks = 50
/** Several facts come at once; one look tells them all. */
const settleMs = 150

/** Work handed to the coding assistant: what runs, what came of the rest, and whether the owner was told. */
export class DgTasksPage extends LitElement {
  static override readonly properties = {
    app: { attribute: false },
    tasks: { state: true },
    configured: { state: true },
    shown: { state: true },
    hasMore: { state: true },
    problem: { state: true },
    handing: { state: true },
    confirmation: { state: true },
    now: { state: true },
  }
  static override readonly styles = [
    controls,
    cards,
    css`
      .more {
        display: flex;
        justify-content: center;
        margin-top: var(--space-4);
      }
      .callout {
        margin-bottom: var(--space-4);
      }
    `,
  ]
  declare app: App
  declare private tasks: readonly Task[] | null
  declare private configured: boolean
  declare private shown: number
  declare private hasMore: boolean
  declare private problem: string
  declare private handing: boolean
  declare private confirmation: Confirmation | null
  declare private now: Date
  private ends: (() => void)[] = []
  private soon: ReturnType<typeof setTimeout> | undefined

  constructor() {
    super()
    this.tasks = null
    this.configured = true
    this.shown = pageTasks
    this.hasMore = false
    this.problem = ''
    this.handing = false
    this.confirmation = null
    this.now = new Date()
  }

  override connectedCallback(): void {
    super.connectedCallback()
    const ticks = setInterval(() => {
      if (this.tasks?.some(({ status }) => status === 'running')) this.now = new Date()
    }, tickMs)
    this.ends = [
      () => clearInterval(ticks),
      () => clearTimeout(this.soon),
      this.app.chat().follow(({ type }) => {
        if (/^(?:task|delivery)\.|^erased$/.test(type)) this.loadSoon()
      }),
    ]
    void this.load()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    for (const end of this.ends) end()
  }

  private loadSoon(): void {
    clearTimeout(this.soon)
    this.soon = setTimeout(() => void this.load(), settleMs)
  }

  private readonly load = async (): Promise<void> => {
    try {
      const tasks: Task[] = []
      let cursor: string | null = null
      do {
        const page = await fetchTasks(this.app.http, pageTasks, cursor)
        tasks.push(...page.tasks)
        cursor = page.nextCursor
        this.configured = page.configured
      } while (cursor !== null && tasks.length < this.shown)
      this.hasMore = cursor !== null
      this.tasks = tasks
      this.now = new Date()
      this.problem = ''
    } catch (error) {
      this.problem = explain(error)
    }
  }

  private readonly loadMore = (): void => {
    this.shown += pageTasks
    void this.load()
  }

  private confirmCancelling(task: Task): void {
    this.confirmation = {
      heading: 'Cancel this task?',
      text: `“${task.title}” is stopped where it is. What it has changed so far stays changed.`,
      action: 'Cancel task',
      run: async () => {
        await cancelTask(this.app.http, task.id)
        this.app.toast('Task cancelled')
        await this.load()
      },
    }
  }

  private async retry(task: Task, what: 'work' | 'delivery'): Promise<void> {
    try {
      await retryTask(this.app.http, task.id, what)
      this.app.toast(what === 'work' ? 'Handed over again' : 'On its way again')
      await this.load()
    } catch (error) {
      this.app.toast(explain(error), 'warning')
    }
  }

  override render() {
    return html`
      <dg-page heading="Tasks">
        <button
          slot="tools"
          class="button small"
          ?disabled=${!this.configured}
          @click=${() => (this.handing = true)}
        >
          <dg-icon name="tool"></dg-icon>Hand over a task
        </button>
        ${this.contentView()}
      </dg-page>
      <dg-task-dialog
        .http=${this.app.http}
        .open=${this.handing}
        @close=${() => (this.handing = false)}
        @dispatched=${() => {
          this.handing = false
          this.app.toast('Task handed over')
          void this.load()
        }}
      ></dg-task-dialog>
      <dg-confirm-dialog
        .confirmation=${this.confirmation}
        @close=${() => (this.confirmation = null)}
      ></dg-confirm-dialog>
    `
  }

  private contentView(): TemplateResult {
    if (this.tasks === null) {
      if (this.problem === '')
        return html`<div role="status" aria-label="Loading the tasks">
          <div class="waiting"></div>
          <div class="waiting"></div>
        </div>`
      return html`<dg-state icon="offline" heading="The tasks cannot be shown" role="alert">
        <p>${this.problem}</p>
        <button class="button" @click=${() => void this.load()}>Try again</button>
      </dg-state>`
    }
    if (this.tasks.length === 0) return this.emptyView()
    const open = this.tasks.filter(({ status }) => status === 'queued' || status === 'running')
    const over = this.tasks.filter(({ status }) => status !== 'queued' && status !== 'running')
    return html`
      ${this.problem === '' ? nothing : html`<p role="alert">What follows may be out of date. ${this.problem}</p>`}
      ${this.configured ? nothing : unconfiguredView()}
      ${this.listView('Under way', open)} ${this.listView('Over', over)}
      ${
        this.hasMore
          ? html`<div class="more"><button class="button" @click=${this.loadMore}>Show older tasks</button></div>`
          : nothing
      }
    `
  }

  private emptyView(): TemplateResult {
    if (!this.configured) {
      return html`<dg-state icon="tool" heading="No coding assistant is set up">
        <p>
          Whoever runs Delegate names the assistant’s command in the environment variable
          <code>COPILOT_COMMAND</code> and starts Delegate again. For your safety it cannot be set in the browser.
        </p>
      </dg-state>`
    }
    return html`<dg-state icon="tool" heading="No tasks yet">
      <p>Hand one over here, or just say: “have the coding assistant fix the build and text me when it is done”.</p>
      <button class="button primary" @click=${() => (this.handing = true)}>Hand over a task</button>
    </dg-state>`
  }

  private listView(heading: string, tasks: readonly Task[]): TemplateResult | typeof nothing {
    if (tasks.length === 0) return nothing
    return html`<h2 class="heading">${heading}</h2>
      <ul class="cards" aria-label=${heading}>
        ${repeat(
          tasks,
          ({ id }) => id,
          (task) => html`<li>
            <dg-task-card
              .http=${this.app.http}
              .task=${task}
              .now=${this.now}
              @cancel=${() => this.confirmCancelling(task)}
              @retry=${(event: CustomEvent<'work' | 'delivery'>) => void this.retry(task, event.detail)}
            ></dg-task-card>
          </li>`,
        )}
      </ul>`
  }
}

function unconfiguredView(): TemplateResult {
  return html`<div class="callout warning">
    <dg-icon name="warning"></dg-icon>
    <p>No coding assistant is set up now (<code>COPILOT_COMMAND</code>), so no task can be handed over.</p>
  </div>`
}

customElements.define('dg-tasks-page', DgTasksPage)
