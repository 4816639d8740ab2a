import { type CSSResult, LitElement } from 'lit'
import { controls } from './controls.ts'

/**
 * An element that renders without a shadow root, because password managers do not find form fields inside
 * one. Its styles apply to the document while it is connected.
 */
export abstract class LightElement extends LitElement {
  protected abstract readonly sheets: readonly CSSResult[]
  private adopted: CSSStyleSheet[] = []

  protected override createRenderRoot(): HTMLElement {
    return this
  }

  override connectedCallback(): void {
    super.connectedCallback()
    const [shared = [], own] = [[controls], this.sheets].map((sheets) =>
      sheets.flatMap(({ styleSheet }) => (styleSheet ? [styleSheet] : [])),
    )
    // Shared styles go first, so that the element's own styles override them.
    document.adoptedStyleSheets = [...shared, ...document.adoptedStyleSheets, ...(own ?? [])]
    this.adopted = [...shared, ...(own ?? [])]
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    // Remove each sheet once only: another element may have adopted the same one.
    document.adoptedStyleSheets = this.adopted.reduce((rest, sheet) => {
      const at = rest.indexOf(sheet)
      return at < 0 ? rest : rest.toSpliced(at, 1)
    }, document.adoptedStyleSheets)
  }
}
