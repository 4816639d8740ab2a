import { css } from 'lit'

/** Styles for forms and fields. Part of `controls`. */
export const forms = css`
  .form {
    display: grid;
    gap: var(--space-4);
  }
  textarea.input {
    resize: vertical;
  }
  .field {
    display: grid;
    gap: 0.375rem;
    border: 0;
    padding: 0;
    margin: 0;
    min-width: 0;
  }
  .field > label,
  .label {
    font-size: var(--text-sm);
    font-weight: 550;
  }
  .field-error {
    display: flex;
    gap: 0.375rem;
    font-size: var(--text-sm);
    color: var(--danger);
  }
  .input {
    width: 100%;
    min-height: 2.75rem;
    padding: var(--space-2) var(--space-3);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-md);
    background: var(--surface);
    color: var(--ink);
    font: 400 1rem / 1.4 var(--font);
  }
  .input.small {
    min-height: 2.5rem;
    font-size: var(--text-md);
  }
  /* Phones zoom into a field whose text is smaller than 16 px. */
  @media (pointer: coarse), (max-width: 44rem) {
    .input.small {
      min-height: 2.75rem;
      font-size: 1rem;
    }
  }
  ::placeholder {
    color: var(--ink-faint);
    opacity: 1;
  }
  .input:focus-visible {
    outline-offset: 0;
    border-color: var(--accent);
  }
  .input[aria-invalid="true"] {
    border-color: var(--danger);
  }
  input:where([type='checkbox'], [type='radio']) {
    flex: none;
    width: 1.125rem;
    height: 1.125rem;
    margin: 0;
  }
  .input-with-button,
  .input-with-icon {
    position: relative;
  }
  .input-with-button .input {
    padding-right: 3rem;
  }
  .input-with-button > .button {
    position: absolute;
    right: 0.25rem;
    top: 0.25rem;
  }

  .input-with-icon > dg-icon {
    position: absolute;
    left: 0.875rem;
    top: 0.8125rem;
    color: var(--ink-faint);
    pointer-events: none;
  }
  .input-with-icon .input {
    padding-left: 2.5rem;
  }
`
