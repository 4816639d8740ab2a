import { html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import { repeat } from 'lit/directives/repeat.js'
import type { Task, TaskIsolation } from '../../../src/http/contract/tasks.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { loadedView } from '../app/loaded.ts'
import { type ListPage, moreView, PagedList } from '../app/paged-list.ts'
import { msg } from '../design/msg.ts'
import { tick } from '../design/while-connected.ts'
import './task-card.ts'
import { DgTaskDialog } from './task-dialog.ts'

/** Updates texts such as "running for 12 s". */
const tickMs = 1_000
const pageTasks = 50

type TaskPage = ListPage<Task> & {
  readonly configured: boolean
  readonly isolation: TaskIsolation | null
}

/** Tasks of the coding assistant, with their outcomes and deliveries. */
@customElement('dg-tasks-page')
export class DgTasksPage extends AppElement {
  /** Kept, so that closing it does not lose what was typed. */
  private readonly dialog = new DgTaskDialog()
  private readonly tasks = new PagedList<Task, TaskPage>(this, {
    fetch: async ({ signal, cursor }) => {
      const { tasks, ...rest } = await this.app.http.get('/api/tasks', {
        query: { limit: pageTasks, cursor },
        signal,
      })
      return { items: tasks, ...rest }
    },
    concerns: (type) => /^(?:task|delivery)\.|^erased$/.test(type),
  })

  constructor() {
    super()
    tick(this, tickMs, () => this.tasks.items.some(({ status }) => status === 'running'))
  }

  private confirmCancelling(task: Task): void {
    askToConfirm(this, {
      heading: msg`Cancel this task?`,
      content: msg`“${task.title}” stops now. Changes it has already made are kept.`,
      action: msg`Cancel task`,
      keep: msg`Keep task`,
      run: () => this.app.http.post('/api/tasks/{id}/cancel', { params: { id: task.id } }),
      done: msg`Task cancelled`,
      reload: this.tasks.reload,
    })
  }

  private readonly handOver = (): void => {
    Object.assign(this.dialog, { onDispatched: this.tasks.reload }).openIn(this)
  }

  private retry(task: Task, what: 'work' | 'delivery'): void {
    void this.app.attempt(async () => {
      await this.app.http.post('/api/tasks/{id}/retry', { params: { id: task.id }, body: { what } })
      this.app.toast(what === 'work' ? msg`Task handed over again` : msg`Retrying the delivery`)
      await this.tasks.reload()
    })
  }

  override render() {
    return html`<dg-page heading=${msg`Tasks`}>
      <button
        slot="tools"
        class="button primary small"
        ?disabled=${this.tasks.value?.configured === false}
        @click=${this.handOver}
      >
        <dg-icon name="plus"></dg-icon>${msg`Hand over a task`}
      </button>
      ${loadedView(this.tasks, msg`the tasks`, (page) => this.pageView(page))}
    </dg-page>`
  }

  private pageView({ items, configured, isolation }: TaskPage): TemplateResult {
    if (items.length === 0) return html`${isolationView(isolation)} ${this.emptyView(configured)}`
    const isOpen = ({ status }: Task) => status === 'queued' || status === 'running'
    return html`
      ${configured ? nothing : unconfiguredView()} ${isolationView(isolation)}
      ${this.listView(msg`In progress`, items.filter(isOpen))}
      ${this.listView(
        msg`Finished`,
        items.filter((task) => !isOpen(task)),
      )}
      ${moreView(this.tasks, msg`Show older tasks`)}
    `
  }

  private emptyView(configured: boolean): TemplateResult {
    if (!configured) {
      return html`<dg-state icon="tool" heading=${msg`No coding assistant is set up`}>
        <p>
          ${msg`To set one up, put its command in the environment variable`} <code>COPILOT_COMMAND</code> ${msg`and restart Delegate. For your safety, this cannot be set in the browser.`}
        </p>
      </dg-state>`
    }
    return html`<dg-state icon="tool" heading=${msg`No tasks yet`}>
      <p>${msg`Hand one over here, or just say: “have the coding assistant fix the build and text me when it is done”.`}</p>
      <button class="button primary" @click=${this.handOver}>${msg`Hand over a task`}</button>
    </dg-state>`
  }

  private listView(heading: string, tasks: readonly Task[]): TemplateResult | typeof nothing {
    if (tasks.length === 0) return nothing
    const now = new Date()
    return html`<h2 class="heading">${heading}</h2>
      <ul class="list cards" aria-label=${heading}>
        ${repeat(
          tasks,
          ({ id }) => id,
          (task) => html`<li>
            <dg-task-card
              class="what"
              .app=${this.app}
              .task=${task}
              .now=${now}
              @cancel=${() => this.confirmCancelling(task)}
              @retry=${(event: CustomEvent<'work' | 'delivery'>) => this.retry(task, event.detail)}
            ></dg-task-card>
          </li>`,
        )}
      </ul>`
  }
}

function unconfiguredView(): TemplateResult {
  return html`<div class="callout warning intro">
    <dg-icon name="warning"></dg-icon>
    <p>${msg`No coding assistant is set up. Set`} <code>COPILOT_COMMAND</code> ${msg`to hand over tasks.`}</p>
  </div>`
}

/** Warns if programs of tasks can read the data, or cannot start. */
function isolationView(isolation: TaskIsolation | null): TemplateResult | typeof nothing {
  if (isolation === null || isolation.reason === null) return nothing
  return html`<div class="callout warning intro">
    <dg-icon name="warning"></dg-icon>
    <p>
      ${
        isolation.way === null
          ? msg`Tasks cannot start.`
          : msg`Tasks are not isolated: their program can read Delegate’s data and keys.`
      }
      ${isolation.reason} ${isolation.remedy} <a href="/security">${msg`See all security checks`}</a>
    </p>
  </div>`
}
