import { css, html, type TemplateResult } from 'lit'

/** A checkbox that takes effect at once. `onChange` is called with its new state. */
export function switchView(options: {
  readonly label: string
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
}): TemplateResult {
  return html`<input
    class="switch"
    type="checkbox"
    role="switch"
    aria-label=${options.label}
    .checked=${options.checked}
    @change=${(event: Event) => {
      if (event.target instanceof HTMLInputElement) options.onChange(event.target.checked)
    }}
  />`
}

export const switchStyles = css`
  .switch {
    flex: none;
    appearance: none;
    position: relative;
    width: 2.5rem;
    height: 1.5rem;
    margin: 0.2rem 0;
    border: 1px solid var(--line-strong);
    border-radius: 99px;
    background: var(--sunken);
    cursor: pointer;
  }
  .switch::after {
    position: absolute;
    top: 50%;
    left: 3px;
    width: 1rem;
    height: 1rem;
    border-radius: 50%;
    background: var(--ink-faint);
    content: '';
    translate: 0 -50%;
  }
  .switch:checked {
    border-color: transparent;
    background: var(--accent);
  }
  .switch:checked::after {
    background: var(--on-accent);
    translate: 1.0625rem -50%;
  }
  @media (forced-colors: active) {
    .switch::after {
      background: ButtonText;
    }
    .switch:checked {
      background: Highlight;
    }
    .switch:checked::after {
      background: HighlightText;
    }
  }
`
