import { css, html, nothing, type PropertyValues } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { LiveCall } from '../../../src/http/contract/calls.ts'
import { AppElement } from '../app/app-element.ts'
import { clockText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { tick } from '../design/while-connected.ts'
import { callBarStyles } from './call-bar-styles.ts'

const secondMs = 1000

/** The live call: who is on the line, for how long, who is speaking, and a button to hang up. */
@customElement('dg-call-bar')
export class DgCallBar extends AppElement {
  static override readonly styles = [
    callBarStyles,
    css`
    .who {
      font-weight: 600;
      overflow-wrap: anywhere;
    }
    .number {
      font-variant-numeric: tabular-nums;
    }
    .problem {
      grid-column: 1 / -1;
    }
  `,
  ]
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
    return html`<section class="on" aria-label=${msg`Phone call`}>
      <dg-icon name="phone"></dg-icon>
      <div class="what actions">
        <span class="who">${whoOf(call)}</span>
        ${call.from === '' || call.inBrowser ? nothing : html`<span class="number">${call.from}</span>`}
        ${
          call.connectedAt === null
            ? nothing
            : html`<time datetime=${call.connectedAt}>${clockText(Date.now() - Date.parse(call.connectedAt))}</time>`
        }
        <span class="beside state">${stateOf(call)}</span>
      </div>
      <button class="button small danger" ?disabled=${busy} @click=${this.hangUp}>
        ${busy ? msg`Hanging up…` : msg`Hang up`}
      </button>
      ${problem === '' ? nothing : html`<span class="problem" role="alert">${problem}</span>`}
    </section>`
  }
}

function whoOf({ party, inBrowser }: LiveCall): string {
  if (inBrowser) return msg`You are talking in another tab`
  return party === 'owner' ? msg`You on the phone` : msg`A guest on the phone`
}

function stateOf(call: LiveCall) {
  if (call.connectedAt === null) return msg`connecting…`
  if (call.speaking === null) return nothing
  const caller = call.party === 'owner' ? msg`you are speaking` : msg`the guest is speaking`
  return html`<span class="pulse"></span>${call.speaking === 'delegate' ? msg`Delegate is speaking` : caller}`
}
