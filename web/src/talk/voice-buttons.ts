import { css, html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { AppElement } from '../app/app-element.ts'
import { iconButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'
import type { Dictation } from './dictation.ts'

/** A longer press dictates while it lasts; a shorter one starts or stops. */
const holdMs = 500

/**
 * Buttons beside the message field. Dictation fires `dictated` with the words. The other begins a talk, which the
 * shell shows. The code of both is loaded on first use.
 */
@customElement('dg-voice-buttons')
export class DgVoiceButtons extends AppElement {
  static override readonly styles = css`
    :host {
      display: contents;
    }
    .button {
      touch-action: none;
    }
    .button.recording,
    .button.recording:hover {
      background: var(--danger);
      color: var(--on-danger);
    }
    .recording dg-icon {
      --icon-size: 0.875rem;
    }
  `
  /** Whether a message is being written, by either side. There is less room then, so the button to talk is hidden. */
  @property({ type: Boolean }) writing = false
  @state() private state: 'starting' | 'recording' | 'writing' | null = null
  private dictation: Dictation | null = null
  /** Cancels the dictation in progress. A cancelled one may still wait for its microphone. */
  private cancelling = new AbortController()
  /** When the button was pressed to start; null once that press is over. */
  private pressedAtMs: number | null = null

  protected override connected(signal: AbortSignal): void {
    signal.addEventListener('abort', () => this.cancel())
    addEventListener('talk', () => this.stop(), { signal })
  }

  private async start(): Promise<void> {
    const { signal } = this.cancelling
    this.state = 'starting'
    this.dispatchEvent(new Event('dictate', { bubbles: true, composed: true }))
    await this.app.attempt(async () => {
      const { startDictation } = await import('./dictation.ts')
      if (signal.aborted) return
      this.dictation = startDictation(this.app, signal, (state) => {
        this.state = state
      })
      const text = await this.dictation.text
      if (text !== null) this.dispatchEvent(new CustomEvent('dictated', { detail: text }))
    })
    if (!signal.aborted) this.state = null
  }

  private stop(): void {
    if (this.state === 'starting') this.cancel()
    else this.dictation?.stop()
  }

  private cancel(): void {
    this.cancelling.abort()
    this.cancelling = new AbortController()
    this.state = null
  }

  private readonly pressed = (event: PointerEvent): void => {
    if (event.button !== 0 || this.state !== null) return
    this.pressedAtMs = event.timeStamp
    void this.start()
  }

  private readonly released = (event: PointerEvent): void => {
    if (this.pressedAtMs !== null && event.timeStamp - this.pressedAtMs > holdMs) this.stop()
  }

  /** Also by a key. A click that ends the press that started it does nothing. */
  private readonly clicked = (): void => {
    const hasStarted = this.pressedAtMs !== null
    this.pressedAtMs = null
    if (hasStarted) return
    if (this.state === null) void this.start()
    else this.stop()
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || this.state === null) return
    event.stopPropagation()
    this.cancel()
  }

  private readonly talk = (): void => {
    this.dispatchEvent(new Event('talk', { bubbles: true, composed: true }))
  }

  override render() {
    const { state } = this
    const isOn = state !== null
    const label =
      state === 'writing' ? msg`Writing down what you said` : isOn ? msg`Stop dictation` : msg`Dictate`
    return html`<button
        class="button quiet icon round ${isOn && state !== 'writing' ? 'recording' : ''}"
        type="button"
        aria-label=${label}
        title=${isOn ? label : msg`Dictate (hold to dictate while you press)`}
        @pointerdown=${this.pressed}
        @pointerup=${this.released}
        @pointercancel=${this.released}
        @click=${this.clicked}
        @keydown=${this.keyPressed}
        @contextmenu=${(event: Event) => event.preventDefault()}
      >
        <dg-icon name=${isOn && state !== 'writing' ? 'stop' : 'microphone'}></dg-icon>
      </button>
      ${this.writing || isOn ? nothing : iconButton('talk', msg`Talk with Delegate`, this.talk, 'quiet round', msg`Talk with Delegate`)}`
  }
}
