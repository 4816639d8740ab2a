import { css, html, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { iconButton } from './icon-button.ts'
import { msg } from './msg.ts'
import { StyledElement } from './styled-element.ts'

/** The bar at the top of a page. */
export const barStyles = css`
  .bar {
    min-height: 3.5rem;
    padding: var(--space-2) var(--space-4);
    border-bottom: 1px solid var(--line);
    background: var(--paper);
  }
  h1 {
    margin-inline-end: auto;
    font-size: var(--text-md);
    font-weight: 600;
  }
  .drawer {
    margin-inline-start: calc(-1 * var(--space-2));
  }
  .halt {
    display: var(--halt-button, inline-flex);
  }
  @media (min-width: 60rem) {
    .drawer {
      display: none;
    }
  }
  @media (max-width: 40rem) {
    .bar {
      flex-wrap: wrap;
      padding: var(--space-1) var(--space-3);
      min-height: 3.25rem;
    }
  }
`

/** Opens the navigation on narrow pages, and halts Delegate without it. */
export function drawerButton(host: HTMLElement): TemplateResult {
  const ask = (name: string) => host.dispatchEvent(new Event(name, { bubbles: true, composed: true }))
  return html`${iconButton('menu', msg`Open navigation`, () => ask('open-navigation'), 'quiet drawer')}
    ${iconButton('halt', msg`Halt`, () => ask('open-halt'), 'quiet drawer halt')}`
}

/** The layout of a page in the shell: heading, tools, and content in one column. */
@customElement('dg-page')
export class DgPage extends StyledElement {
  static override readonly styles = [
    barStyles,
    css`
      :host {
        display: grid;
        grid-template: auto minmax(0, 1fr) / minmax(0, 1fr);
        height: 100%;
      }
      .scroller {
        /* Keeps visually hidden, absolutely positioned text from lengthening the document. */
        position: relative;
        scrollbar-gutter: stable;
      }
      .column {
        max-width: var(--column);
        margin: 0 auto;
        padding: var(--space-4) var(--space-4) var(--space-7);
      }
      .scroller.whole {
        overflow: hidden;
        scrollbar-gutter: auto;
      }
      .full {
        height: 100%;
      }
    `,
  ]
  @property() heading = ''
  /** Set if the content fills the page and handles its own scrolling. */
  @property({ type: Boolean }) full = false

  /** Focuses the content, so that keys scroll it and Tab continues from there. Draws no frame around the whole page. */
  override focus(): void {
    this.renderRoot.querySelector<HTMLElement>('.scroller')?.focus({ focusVisible: false })
  }

  override render() {
    return html`
      <header class="bar beside">
        ${drawerButton(this)}
        <slot name="back"></slot>
        <h1 id="heading">${this.heading}</h1>
        <slot name="tools"></slot>
      </header>
      <div class="scroller ${this.full ? 'whole' : ''}" tabindex=${this.full ? -1 : 0} role="region" aria-labelledby="heading"><div class=${this.full ? 'full' : 'column'}><slot></slot></div></div>
    `
  }
}
