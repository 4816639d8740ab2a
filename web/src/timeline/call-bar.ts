import { css, html, nothing, type PropertyValues } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { LiveCall } from '../../../src/http/contract/calls.ts'
import { AppElement } from '../app/app-element.ts'
import { tick } from '../design/while-connected.ts'

const secondMs = 1000

/** The live call: who is on the line, for how long, who is speaking, and a button to hang up. */
@customElement('dg-call-bar')
export class DgCallBar extends AppElement {
  static override readonly styles = css`
    section {
      display: grid;
      grid-template-columns: auto minmax(0, 1fr) auto;
      align-items: center;
      gap: var(--space-1) var(--space-3);
      padding: var(--space-2) var(--space-4);
      border-bottom: 1px solid var(--line);
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
  `
  @property({ attribute: false }) call: LiveCall | null = null

  constructor() {
    super()
    tick(this, secondMs, () => this.call !== null)
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('call') && changed.get('call')?.callSid !== this.call?.callSid) this.submission.show({})
  }

  private readonly hangUp = (): Promise<boolean> =>
    this.submission.send(
      () => this.app.http.post('/api/calls/current/hangup'),
      {},
      // 409: the call has already ended.
      ({ problem }) => (problem.status === 409 ? '' : undefined),
    )

  override render() {
    const { call } = this
    if (call === null) return nothing
    const { busy, problem } = this.submission
    return html`<section class="on" aria-label="Phone call">
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
      <button class="button small danger" ?disabled=${busy} @click=${this.hangUp}>
        ${busy ? 'Hanging up…' : 'Hang up'}
      </button>
      ${problem === '' ? nothing : html`<span class="problem" role="alert">${problem}</span>`}
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
  const ms = Math.max(0, nowMs - Date.parse(since))
  return new Date(ms)
    .toISOString()
    .slice(11, 19)
    .replace(/^(?:00:)?0?/, '')
}
