import { css, html, type TemplateResult } from 'lit'

/** A bar that is filled to `percent`. An SVG, because the content security policy forbids style attributes. */
export function barView(percent: number, label: string): TemplateResult {
  return html`<svg class="fill-bar" role="img" aria-label=${label}>
    <rect class="track" width="100%" height="100%" rx="3"></rect>
    <rect class="used" width="${percent}%" height="100%" rx="3"></rect>
  </svg>`
}

export const fillBar = css`
  .fill-bar {
    width: 100%;
    height: 0.375rem;
  }
  .fill-bar .track {
    fill: var(--line);
  }
  .fill-bar .used {
    fill: var(--accent);
  }
`
