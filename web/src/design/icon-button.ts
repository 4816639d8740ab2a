import { html, nothing, type TemplateResult } from 'lit'
import type { IconName } from './icon.ts'

/** A button that shows an icon only. `title` says in a few words what it does, for those who see it. */
export function iconButton(
  icon: IconName,
  label: string,
  act: () => void,
  look = 'quiet',
  title?: string,
  tabindex?: number,
): TemplateResult {
  return html`<button
    class="button icon ${look}"
    type="button"
    tabindex=${tabindex ?? nothing}
    aria-label=${label}
    title=${title ?? nothing}
    @click=${act}
  >
    <dg-icon name=${icon}></dg-icon>
  </button>`
}

/** A button with an icon and a label. */
export function labelButton(
  icon: IconName,
  label: string,
  act: () => unknown,
  look = 'small',
): TemplateResult {
  return html`<button class="button ${look}" type="button" @click=${act}>
    <dg-icon name=${icon}></dg-icon>${label}
  </button>`
}
