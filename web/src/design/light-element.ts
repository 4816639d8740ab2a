import { type CSSResult, LitElement } from 'lit'
import { controls } from './controls.ts'

/**
 * An element that renders into the document itself, not into a shadow root: password managers find the fields of
 * a form only there.
 */
export abstract class LightElement extends LitElement {
  protected abstract readonly sheets: readonly CSSResult[]
  private adopted: CSSStyleSheet[] = []

  protected override createRenderRoot(): HTMLElement {
    return this
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.adopted = [controls, ...this.sheets].flatMap(({ styleSheet }) => (styleSheet ? [styleSheet] : []))
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, ...this.adopted]
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !this.adopted.includes(sheet))
  }
}
