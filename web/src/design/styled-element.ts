import { type CSSResultGroup, type CSSResultOrNative, LitElement } from 'lit'
import { fillBar } from './bar.ts'
import { cards } from './cards.ts'
import { checklist } from './checklist.ts'
import { controls } from './controls.ts'
import { whileConnected } from './while-connected.ts'

/** An element with the styles of the design, which come before its own. */
export abstract class StyledElement extends LitElement {
  protected static override finalizeStyles(own?: CSSResultGroup): CSSResultOrNative[] {
    return LitElement.finalizeStyles([controls, cards, checklist, fillBar, own ?? []])
  }

  constructor() {
    super()
    if (this.connected) whileConnected(this, (signal) => this.connected?.(signal))
  }

  /** Runs whenever the element enters the document. The signal aborts when it leaves. */
  protected connected?(signal: AbortSignal): void
}
