import { css, html, nothing, type TemplateResult } from 'lit'
import { msg } from '../design/msg.ts'

export type Tag = readonly [text: string, look?: 'on' | 'restart']
type Reset = { readonly label: string; readonly run: () => void; readonly text?: string }

/** Where a value comes from, the variables that hold it, and a button to reset it if it is set here. */
export function originView(
  tags: readonly Tag[],
  keys: readonly string[],
  reset: Reset | null,
): TemplateResult {
  return html`<p class="actions tiny origin">
    ${tags.map(([text, look = '']) => html`<span class="tag ${look}">${text}</span>`)}
    ${keys.map((key) => html`<code>${key}</code>`)}
    ${
      reset === null
        ? nothing
        : html`<button class="link" type="button" aria-label=${reset.label} @click=${reset.run}>
            ${reset.text ?? msg`Reset`}
          </button>`
    }
  </p>`
}

export const originStyles = css`
  .origin {
    gap: 0.2rem var(--space-2);
    margin-top: var(--space-1);
  }
  .origin code {
    font-family: var(--font-mono);
    overflow-wrap: anywhere;
  }
`
