import { css, html, LitElement, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { LiveCall } from '../../../src/http/contract/calls.ts'
import { explain, Refused } from '../api/http.ts'
import type { Http } from '../api/routes.ts'
import { controls } from '../design/controls.ts'
import { tick } from '../design/while-connected.ts'

const secondMs = 1000

/** The live call: who is on the line, for how long, who is speaking, and a button to hang up. */
@customElement('dg-call-bar')
export class DgCallBar extends LitElement {
  static override readonly styles = [
    controls,
    css`
      :host {
        display: block;
      }
      section {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr) auto;
        align-items: center;
        gap: var(--space-1) var(--space-3);
        padding: var(--space-2) var(--space-4);
        border-bottom: 1px solid var(--line);
        background: var(--accent-soft);
        color: var(--on-accent-soft);
        font-size: var(--text-sm);
      }
      .what {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0 var(--space-3);
      }
      .who {
        font-weight: 600;
        overflow-wrap: anywhere;
      }
      .number,
      time {
        font-variant-numeric: tabular-nums;
      }
      .state {
        display: inline-flex;
        align-items: center;
        gap: var(--space-2);
      }
      .problem {
        grid-column: 1 / -1;
      }
    `,
  ]
  @property({ attribute: false }) call: LiveCall | null = null
  @property({ attribute: false }) http!: Http
  /** Sid of the call being hung up; the next call gets an enabled button. */
  @state() private hangingUp = ''
  @state() private problem: { readonly callSid: string; readonly text: string } | null = null

  constructor() {
    super()
    tick(this, secondMs, () => this.call !== null)
  }

  private async hangUp(callSid: string): Promise<void> {
    this.hangingUp = callSid
    this.problem = null
    try {
      await this.http.post('/api/calls/current/hangup')
    } catch (error) {
      this.hangingUp = ''
      // 409: the call has already ended.
      if (!(error instanceof Refused && error.problem.status === 409))
        this.problem = { callSid, text: explain(error) }
    }
  }

  override render() {
    const { call } = this
    if (call === null) return nothing
    const busy = this.hangingUp === call.callSid
    return html`<section aria-label="Phone call">
      <dg-icon name="phone"></dg-icon>
      <div class="what">
        <span class="who">${call.party === 'owner' ? 'You' : 'A guest'} on the phone</span>
        ${call.from === '' ? nothing : html`<span class="number">${call.from}</span>`}
        ${
          call.connectedAt === null
            ? nothing
            : html`<time datetime=${call.connectedAt}>${durationOf(call.connectedAt, Date.now())}</time>`
        }
        <span class="state">${stateOf(call)}</span>
      </div>
      <button class="button small danger" ?disabled=${busy} @click=${() => this.hangUp(call.callSid)}>
        ${busy ? 'Hanging up…' : 'Hang up'}
      </button>
      ${this.problem?.callSid === call.callSid ? html`<span class="problem" role="alert">${this.problem.text}</span>` : nothing}
    </section>`
  }
}

function stateOf(call: LiveCall) {
  if (call.connectedAt === null) return 'connecting…'
  if (call.speaking === null) return nothing
  const who = call.speaking === 'delegate' ? 'Delegate' : call.party === 'owner' ? 'you' : 'the guest'
  return html`<span class="pulse"></span>${who === 'you' ? 'you are speaking' : `${who} is speaking`}`
}

/** "4:05", "1:02:09". */
function durationOf(since: string, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(since)) / secondMs))
  const two = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}
