import { css } from 'lit'
import { createElement } from 'lucide'
import * as icons from './icons.ts'

export type IconName = keyof typeof icons

const styles = css`
  :host {
    display: inline-block;
    flex: none;
    width: var(--icon-size, 1.125em);
    height: var(--icon-size, 1.125em);
  }
  svg {
    display: block;
    width: 100%;
    height: 100%;
  }
`

function isIconName(name: string | null): name is IconName {
  return name !== null && Object.hasOwn(icons, name)
}

/** A decorative icon, hidden from screen readers. A plain element, because each timeline row has several. */
export class DgIcon extends HTMLElement {
  static readonly observedAttributes = ['name']
  private readonly root: ShadowRoot

  constructor() {
    super()
    this.root = this.attachShadow({ mode: 'open' })
    if (styles.styleSheet) this.root.adoptedStyleSheets = [styles.styleSheet]
  }

  connectedCallback(): void {
    this.ariaHidden = 'true'
  }

  attributeChangedCallback(_attribute: string, _before: string | null, name: string | null): void {
    // biome-ignore lint/performance/noDynamicNamespaceImportAccess: pages show every icon of that file by name.
    this.root.replaceChildren(...(isIconName(name) ? [createElement(icons[name])] : []))
  }
}

customElements.define('dg-icon', DgIcon)
