import { type CSSResult, LitElement } from 'lit'
import { controls } from './controls.ts'

/**
 * An element that renders into the document itself, not into a shadow root: password managers find the fields of
 * a form only there. Its styles are the document's for as long as it is there.
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
    // What all have in common stays first, however many there are: what an element says of itself wins.
    document.adoptedStyleSheets = [...shared, ...document.adoptedStyleSheets, ...(own ?? [])]
    this.adopted = [...shared, ...(own ?? [])]
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    // Once each: another element may have brought the same.
    document.adoptedStyleSheets = this.adopted.reduce((rest, sheet) => {
      const at = rest.indexOf(sheet)
      return at < 0 ? rest : rest.toSpliced(at, 1)
    }, document.adoptedStyleSheets)
  }
}
