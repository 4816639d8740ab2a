import { html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { guard } from 'lit/directives/guard.js'
import type { LogLevel, LogLine } from '../../../src/http/contract/logs.ts'
import type { AnswerOf } from '../api/routes.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { takeText } from '../design/field.ts'
import { countText } from '../design/format.ts'
import { iconButton } from '../design/icon-button.ts'
import { createKeyedRows } from '../design/keyed-rows.ts'
import { msg } from '../design/msg.ts'
import { logLineView, matchesLine } from './log-line.ts'
import { logStyles } from './log-styles.ts'

/** The page keeps at most this many lines and drops older ones. */
const keptLines = 1000
const stickPx = 40
/** After this long, a refused stream is requested again. */
const retryMs = 3000

type LogPage = AnswerOf<'/api/logs'>
type Connection = 'live' | 'paused' | 'cut'

/** Live view of the service's log. */
@customElement('dg-logs-page')
export class DgLogsPage extends AppElement {
  static override readonly styles = logStyles
  @state() private level: LogLevel = 'info'
  @state() private filter = ''
  @state() private connection: Connection = 'live'
  /** Ids of the lines whose fields are unfolded. */
  @state() private opened: ReadonlySet<number> = new Set()
  private following = new AbortController()
  private fresh: LogLine[] = []
  private frame = 0
  @state() private atEnd = true
  private lastTop = 0
  private readonly renderRows = createKeyedRows()

  /** `dropped` is the number of lines that the service dropped before this page could read them. */
  private readonly log = new Loaded<LogPage>(this, {
    fetch: async (signal) => {
      const query = { level: this.level, limit: keptLines }
      const page = await this.app.http.get('/api/logs', { query, signal })
      this.fresh = []
      this.atEnd = true
      this.follow(page.lines.at(-1)?.id ?? 0)
      return page
    },
  })

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.following.abort()
    cancelAnimationFrame(this.frame)
    this.frame = 0
  }

  private get lines(): readonly LogLine[] {
    return this.log.value?.lines ?? []
  }

  private put(change: Partial<LogPage>): void {
    const { value } = this.log
    if (value) this.log.put({ ...value, ...change })
  }

  /** Streams each line after `lastId`. The browser resumes after a cut, unless the service refused the stream. */
  private follow(lastId: number): void {
    this.following.abort()
    const following = new AbortController()
    this.following = following
    this.connection = 'live'
    const query = new URLSearchParams({ level: this.level, after: String(lastId) })
    const source = new EventSource(`/api/logs/stream?${query}`)
    following.signal.addEventListener('abort', () => source.close())
    source.addEventListener('line', ({ data }) => this.take(JSON.parse(data)))
    source.addEventListener('dropped', ({ data }) =>
      this.put({ dropped: (this.log.value?.dropped ?? 0) + Number(data) }),
    )
    source.addEventListener('open', () => {
      this.connection = 'live'
    })
    source.addEventListener('error', async () => {
      this.connection = 'cut'
      if (source.readyState !== EventSource.CLOSED || (await this.app.mayConnect()) === 'no') return
      await new Promise((resolve) => setTimeout(resolve, retryMs))
      if (!following.signal.aborted) this.follow(this.lastId())
    })
  }

  private lastId(): number {
    return (this.fresh.at(-1) ?? this.lines.at(-1))?.id ?? 0
  }

  /** Shows new lines at most once a frame, because they arrive in bursts. */
  private take(line: LogLine): void {
    this.fresh.push(line)
    if (this.frame !== 0) return
    this.frame = requestAnimationFrame(() => {
      this.frame = 0
      this.put({ lines: [...this.lines, ...this.fresh].slice(-keptLines) })
      this.fresh = []
    })
  }

  private readonly togglePause = (): void => {
    if (this.connection === 'paused') {
      this.follow(this.lastId())
      return
    }
    this.following.abort()
    this.connection = 'paused'
  }

  private chooseLevel(chosen: string): void {
    this.level = levels.find((level) => level === chosen) ?? 'info'
    this.log.put(null)
    void this.log.reload()
  }

  private readonly scrolled = (event: Event): void => {
    const { target } = event
    if (!(target instanceof HTMLElement)) return
    const { scrollTop, scrollHeight, clientHeight } = target
    // Only scrolling up leaves the end. New lines below must not.
    if (scrollHeight - scrollTop - clientHeight < stickPx) this.atEnd = true
    else if (scrollTop < this.lastTop - 1) this.atEnd = false
    this.lastTop = scrollTop
  }

  private shown(): readonly LogLine[] {
    const wanted = this.filter.trim().toLowerCase()
    return this.lines.filter((line) => matchesLine(line, wanted))
  }

  private readonly save = (): void => {
    const text = this.shown()
      .map((line) => JSON.stringify(line))
      .join('\n')
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text, '\n'], { type: 'application/jsonl' }))
    link.download = `delegate-log-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.jsonl`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  }

  protected override updated(): void {
    const list = this.renderRoot.querySelector('.lines')
    if (list) {
      const rows = this.shown().map((line) => {
        const open = this.opened.has(line.id)
        const toggle = () => (this.opened = this.opened.symmetricDifference(new Set([line.id])))
        return {
          key: String(line.id),
          className: `line ${line.level}`,
          content: guard([line, open], () => logLineView(line, open, toggle)),
        }
      })
      this.renderRows(list, rows, { host: this })
    }
    const scroller = this.renderRoot.querySelector<HTMLElement>('.scroller')
    if (scroller && this.atEnd) scroller.scrollTop = scroller.scrollHeight
  }

  override render() {
    const paused = this.connection === 'paused'
    return html`<dg-page heading=${msg`Logs`} full>
      <span slot="tools" class="state beside soft ${this.connection}" role="status">${stateText[this.connection]}</span>
      <button slot="tools" class="button small" aria-pressed=${paused} @click=${this.togglePause}>
        <dg-icon name=${paused ? 'play' : 'pause'}></dg-icon>${paused ? msg`Resume` : msg`Pause`}
      </button>
      <button slot="tools" class="button quiet icon small" aria-label=${msg`Save these lines`} title=${msg`Save these lines`} @click=${this.save}>
        <dg-icon name="download"></dg-icon>
      </button>
      <div class="frame">
        <div class="tools beside">
          <input
            class="input small what"
            type="search"
            aria-label=${msg`Filter lines`}
            placeholder=${msg`Filter`}
            .value=${this.filter}
            @input=${takeText((text) => (this.filter = text))}
          />
          <label class="level">
            <span class="visually-hidden">${msg`Level`}</span>
            <select class="input small" .value=${this.level} @change=${takeText((chosen) => this.chooseLevel(chosen))}>
              ${levels.map((level) => html`<option value=${level} ?selected=${level === this.level}>${levelNames[level]}</option>`)}
            </select>
          </label>
        </div>
        ${loadedView(this.log, msg`the log`, (page) => this.contentView(page))}
      </div>
    </dg-page>`
  }

  private contentView({ lines, dropped }: LogPage): TemplateResult {
    const isEmpty = this.shown().length === 0
    const toEnd = () => (this.atEnd = true)
    return html`
      ${
        dropped === 0
          ? nothing
          : html`<p class="gone">${dropped === 1 ? msg`1 earlier line is no longer in memory.` : msg`${countText(dropped)} earlier lines are no longer in memory.`}</p>`
      }
      <div class="scroller" tabindex="0" role="log" aria-live="off" aria-label=${msg`Lines`} @scroll=${this.scrolled}>
        ${isEmpty ? this.emptyView(lines.length) : nothing}
        <div class="lines"><span></span><span></span></div>
      </div>
      ${this.atEnd ? nothing : iconButton('arrow-down', msg`Go to the newest line`, toEnd, 'round to-end')}
    `
  }

  private emptyView(kept: number): TemplateResult {
    return kept === 0
      ? html`<dg-state icon="logs" heading=${msg`No lines at this level yet`}>
          <p>${msg`Choose a lower level, or wait: new lines appear automatically.`}</p>
        </dg-state>`
      : html`<dg-state icon="search" heading=${msg`No matching lines`}>
          <p>${msg`The filter searches the messages and fields of the lines on this page.`}</p>
        </dg-state>`
  }
}

const stateText: Readonly<Record<Connection, string>> = {
  live: msg`Live`,
  paused: msg`Paused`,
  cut: msg`Reconnecting…`,
}

/** From the least serious to the most. */
const levels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

const levelNames: Readonly<Record<LogLevel, string>> = {
  trace: msg`Everything`,
  debug: msg`Debug and above`,
  info: msg`Info and above`,
  warn: msg`Warnings and above`,
  error: msg`Errors and above`,
  fatal: msg`Fatal only`,
}
