import { css, html, LitElement } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { IconName } from './icon.ts'

/** A placeholder for content that is empty, missing or failed to load, with a suggestion what to do. */
@customElement('dg-state')
export class DgState extends LitElement {
  static override readonly styles = css`
    :host {
      display: grid;
      justify-items: center;
      gap: var(--space-2);
      max-width: 28rem;
      margin: 0 auto;
      padding: var(--space-6) var(--space-4);
      text-align: center;
      color: var(--ink-soft);
    }
    dg-icon {
      --icon-size: 1.75rem;
      color: var(--ink-faint);
    }
    h2 {
      margin: 0;
      color: var(--ink);
      font-size: var(--text-lg);
      font-weight: 600;
    }
    ::slotted(.button) {
      margin-top: var(--space-2);
    }
  `
  @property() icon!: IconName
  @property() heading!: string

  override render() {
    return html`
      <dg-icon name=${this.icon}></dg-icon>
      <h2>${this.heading}</h2>
      <slot></slot>
    `
  }
}
