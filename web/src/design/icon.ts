import { css } from 'lit'
import * as icons from './icons.ts'

export type IconName = keyof typeof icons

const svgNamespace = 'http://www.w3.org/2000/svg'

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
    fill: none;
    stroke: currentColor;
    stroke-width: 2;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
`

function draw(name: IconName): SVGElement {
  const picture = document.createElementNS(svgNamespace, 'svg')
  picture.setAttribute('viewBox', '0 0 24 24')
  picture.setAttribute('focusable', 'false')
  // biome-ignore lint/performance/noDynamicNamespaceImportAccess: pages show every icon of that file by name.
  for (const [tag, attributes] of icons[name]) {
    const shape = document.createElementNS(svgNamespace, tag)
    for (const [attribute, value] of Object.entries(attributes)) shape.setAttribute(attribute, String(value))
    picture.append(shape)
  }
  return picture
}

function isIconName(name: string | null): name is IconName {
  return name !== null && Object.hasOwn(icons, name)
}

/** Cache of drawn icons. Elements show copies. */
const drawn = new Map<IconName, SVGElement>()

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

  attributeChangedCallback(_attribute: string, before: string | null, name: string | null): void {
    if (name === before) return
    if (!isIconName(name)) {
      this.root.replaceChildren()
      return
    }
    const picture = drawn.get(name) ?? draw(name)
    drawn.set(name, picture)
    this.root.replaceChildren(picture.cloneNode(true))
  }
}

customElements.define('dg-icon', DgIcon)
