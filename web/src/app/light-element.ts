import type { CSSResult } from 'lit'
import { AppElement } from './app-element.ts'

/**
 * An element that renders without a shadow root, because password managers do not find form fields inside
 * one. Its styles apply to the document while it is connected.
 */
export abstract class LightElement extends AppElement {
  /** Besides the styles for controls, which the app's root element adopts. */
  protected readonly sheets: readonly CSSResult[] = []

  protected override createRenderRoot(): HTMLElement {
    return this
  }

  override connectedCallback(): void {
    super.connectedCallback()
    document.adoptedStyleSheets.push(...this.own())
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    const own = this.own()
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !own.includes(sheet))
  }

  private own(): CSSStyleSheet[] {
    return this.sheets.flatMap(({ styleSheet }) => styleSheet ?? [])
  }
}
