import { html, nothing, type ReactiveController, type ReactiveControllerHost, type TemplateResult } from 'lit'
import { explain, Unreachable } from '../api/http.ts'
import { capitalised } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import type { App } from './app.ts'

export type LoadedHost = ReactiveControllerHost & { readonly app: App }

type LoadedOptions<Value> = {
  readonly fetch: (signal: AbortSignal) => Promise<Value>
  /** Whether an event of this type may change the value. */
  readonly concerns?: (type: string) => boolean
  /** After how long to load again without an event; null for never. */
  readonly againMs?: (value: Value | null) => number | null
}

/** Coalesces the events of a turn into one reload. */
const debounceMs = 250
const typingPauseMs = 170
/** Between attempts while the service cannot be reached. */
const retryMs = 5000

/**
 * A value of the service, loaded when the host connects and again on events that concern it. A new request
 * aborts the one in progress. A failure keeps the value and sets `problem`; without the service, it is tried again.
 */
export class Loaded<Value> implements ReactiveController {
  /** Null before the first response. */
  value: Value | null = null
  /** Why the last request failed; empty if it succeeded. */
  problem = ''
  loading = false
  private readonly host: LoadedHost
  private readonly options: LoadedOptions<Value>
  private running: AbortController | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private unfollow: () => void = () => undefined

  constructor(host: LoadedHost, options: LoadedOptions<Value>) {
    this.host = host
    this.options = options
    host.addController(this)
  }

  hostConnected(): void {
    const { concerns } = this.options
    if (concerns)
      this.unfollow = this.host.app.chat().follow(({ type }) => {
        if (concerns(type)) this.schedule(debounceMs, this.reload)
      })
    void this.reload()
  }

  hostDisconnected(): void {
    this.unfollow()
    this.running?.abort()
    clearTimeout(this.timer)
  }

  readonly reload = (): Promise<void> => this.read(this.options.fetch)

  /** Shows a value that was not loaded here, such as the answer to a change. */
  put(value: Value | null): void {
    this.value = value
    this.host.requestUpdate()
  }

  /** Loads again once the owner stops typing. */
  readAfterTyping(act: () => Promise<void> = this.reload): void {
    this.loading = true
    this.host.requestUpdate()
    this.schedule(typingPauseMs, act)
  }

  private schedule(pauseMs: number, act: () => Promise<void>): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void act(), pauseMs)
  }

  protected async read(fetch: (signal: AbortSignal) => Promise<Value>): Promise<void> {
    clearTimeout(this.timer)
    this.running?.abort()
    const running = new AbortController()
    this.running = running
    this.loading = true
    this.host.requestUpdate()
    let isOffline = false
    try {
      const value = await fetch(running.signal)
      if (running.signal.aborted) return
      this.value = value
      this.problem = ''
    } catch (error) {
      if (running.signal.aborted) return
      this.problem = explain(error)
      isOffline = error instanceof Unreachable
    }
    this.loading = false
    this.host.requestUpdate()
    const againMs = isOffline ? retryMs : (this.options.againMs?.(this.value) ?? null)
    if (againMs !== null) this.schedule(againMs, this.reload)
  }
}

/** A value in any state: loading, failed, stale or loaded. In sentences, `what` names it ("the notes"). */
export function loadedView<Value>(
  { value, problem, reload }: Loaded<Value>,
  what: string,
  content: (value: Value) => TemplateResult | typeof nothing,
): TemplateResult {
  if (value === null && problem !== '') return failedView(what, problem, reload)
  if (value === null) return waitingView(msg`Loading ${what}`)
  return html`
    ${
      problem === ''
        ? nothing
        : html`<p class="actions stale" role="alert">
            ${msg`${capitalised(what)} may be out of date. ${problem}`}
            <button class="button small" type="button" @click=${reload}>${msg`Try again`}</button>
          </p>`
    }
    ${content(value)}
  `
}

/** Says that something cannot be shown and why, with a button to try again. */
export function failedView(what: string, problem: string, retry: () => unknown): TemplateResult {
  return html`<dg-state icon="offline" heading=${msg`${capitalised(what)} cannot be shown`} role="alert">
    <p>${problem}</p>
    <button class="button" type="button" @click=${retry}>${msg`Try again`}</button>
  </dg-state>`
}

/** Bars in the place of what is being loaded. */
export function waitingView(label: string, bars = 3): TemplateResult {
  return html`<div role="status" aria-label=${label}>
    ${Array.from({ length: bars }, () => html`<div class="waiting"></div>`)}
  </div>`
}
