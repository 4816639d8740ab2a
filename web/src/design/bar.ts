import { css, html, type TemplateResult } from 'lit'

/** A bar that is filled to `percent`. */
export function barView(percent: number, label: string): TemplateResult {
  return html`<progress class="fill-bar" max="100" value=${percent} aria-label=${label}></progress>`
}

export const fillBar = css`
  .fill-bar {
    width: 100%;
    height: 0.625rem;
  }
`
