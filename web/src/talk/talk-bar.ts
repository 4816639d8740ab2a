import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { AppElement } from '../app/app-element.ts'
import { clockText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { tick } from '../design/while-connected.ts'
import { callBarStyles } from '../timeline/call-bar-styles.ts'
import { titleOf } from '../timeline/titles.ts'
import { explainMissing, explainVoice } from './explain-voice.ts'
import { startTalk, type TalkSession } from './talk-session.ts'

const secondMs = 1000

type State = 'connecting' | 'muted' | 'speaking' | 'interrupted' | 'hearing' | 'listening' | 'ended'

const words: Readonly<Record<State, string>> = {
  connecting: msg`Connecting…`,
  muted: msg`Muted: Delegate does not hear you`,
  speaking: msg`Delegate is speaking`,
  interrupted: msg`Interrupted: Delegate listens to you`,
  hearing: msg`You are speaking`,
  listening: msg`Listening`,
  ended: msg`The talk has ended`,
}

/**
 * A talk with the delegate, which begins when this enters the document and ends when it leaves. What is said is on the
 * timeline.
 */
@customElement('dg-talk-bar')
export class DgTalkBar extends AppElement {
  static override readonly styles = [
    callBarStyles,
    css`
    a {
      color: inherit;
      font-weight: 600;
    }
    .button[aria-pressed='true'] {
      background: var(--ink);
      color: var(--paper);
    }
  `,
  ]
  @state() private talk: TalkSession | null = null
  @state() private isMuted = false
  /** The delegate was interrupted and has said nothing since. */
  @state() private isInterrupted = false
  /** Why it has ended; null before. */
  @state() private endText: string | null = null
  private spokeLast: 'caller' | 'delegate' | null = null
  private startedAtMs = 0

  constructor() {
    super()
    tick(this, secondMs, () => this.state !== 'ended')
  }

  get hasEnded(): boolean {
    return this.endText !== null
  }

  override focus(): void {
    this.renderRoot.querySelector('button')?.focus()
  }

  protected override connected(signal: AbortSignal): void {
    const chat = this.app.chat()
    signal.addEventListener(
      'abort',
      chat.subscribe(() => this.callChanged()),
    )
    signal.addEventListener(
      'abort',
      chat.follow((event) => {
        if (event.type === 'call.ended' && event.payload.callSid === this.talk?.callSid)
          this.ended(titleOf(event))
      }),
    )
    signal.addEventListener('abort', () => {
      chat.live.ownSid = null
    })
    // Dictated words are not for the talk.
    addEventListener('dictate', () => this.setMuted(true), { signal })
    void this.start(signal)
  }

  private async start(signal: AbortSignal): Promise<void> {
    try {
      const { talk } = await this.app.http.get('/api/speech', { signal })
      if (talk === null) {
        explainMissing(
          this.app,
          msg`No model can listen and speak. Choose one for calls, or one for transcription and one for speech, in Settings → Model services.`,
        )
        this.remove()
        return
      }
      this.talk = await startTalk({
        signal,
        interrupted: () => {
          this.isInterrupted = true
        },
        ended: (why) => this.ended(why),
      })
      this.setMuted(this.isMuted)
      this.startedAtMs = Date.now()
      this.app.chat().live.ownSid = this.talk.callSid
      this.app.announce(msg`The talk has begun. Speak.`)
      await this.updateComplete
      this.focus()
    } catch (error) {
      if (signal.aborted) return
      explainVoice(this.app, error)
      this.remove()
    }
  }

  private callChanged(): void {
    const { speaking } = this
    // What was interrupted may be shown as spoken for a moment longer.
    if (speaking === 'delegate' && this.spokeLast !== 'delegate') this.isInterrupted = false
    this.spokeLast = speaking
    this.requestUpdate()
  }

  private get speaking(): 'caller' | 'delegate' | null {
    const { call } = this.app.chat().live
    return call !== null && call.callSid === this.talk?.callSid ? call.speaking : null
  }

  private get state(): State {
    if (this.hasEnded) return 'ended'
    if (this.talk === null) return 'connecting'
    if (this.isInterrupted) return 'interrupted'
    if (this.speaking === 'delegate') return 'speaking'
    if (this.isMuted) return 'muted'
    return this.speaking === 'caller' ? 'hearing' : 'listening'
  }

  /** By the service: the bar stays, and says why once it is known. A dead line reports no end, but the chat does. */
  private ended(why = ''): void {
    if (!this.isConnected) return
    this.talk?.close()
    if (this.endText === null) this.app.announce(why || words.ended)
    this.endText ||= why
  }

  private setMuted(isMuted: boolean): void {
    this.isMuted = isMuted
    this.talk?.mute(isMuted)
  }

  private readonly hangUp = (): void => {
    this.remove()
    this.app.announce(words.ended)
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    this.hangUp()
  }

  override render(): TemplateResult {
    const { state, isMuted } = this
    return html`<section class="on" aria-label=${msg`Talk`} @keydown=${this.keyPressed}>
      <dg-icon name="talk"></dg-icon>
      <div class="what actions">
        <a href="/" title=${msg`Show the words on the timeline`}>${msg`Talk`}</a>
        ${
          this.talk === null || state === 'ended'
            ? nothing
            : html`<time>${clockText(Date.now() - this.startedAtMs)}</time>`
        }
        <span class="beside state"
          >${isLively(state) ? html`<span class="pulse"></span>` : nothing}${this.endText || words[state]}</span
        >
      </div>
      <div class="beside">
        ${
          this.endText === null
            ? html`<button
                  class="button small"
                  aria-pressed=${isMuted}
                  ?disabled=${this.talk === null}
                  @click=${() => this.setMuted(!isMuted)}
                >
                  <dg-icon name=${isMuted ? 'muted' : 'microphone'}></dg-icon>${msg`Mute`}
                </button>
                <button class="button small danger" @click=${this.hangUp}>${msg`Hang up`}</button>`
            : html`<button class="button small" @click=${this.hangUp}>${msg`Close`}</button>`
        }
      </div>
    </section>`
  }
}

const isLively = (state: State): boolean =>
  state === 'connecting' || state === 'speaking' || state === 'hearing'
