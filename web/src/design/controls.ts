import { css } from 'lit'
import { blocks } from './blocks.ts'
import { forms } from './forms.ts'

const buttons = css`
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  :host {
    display: block;
  }
  [hidden] {
    display: none !important;
  }
  :is(h1, h2, h3, h4, p, dl, dd, figure, blockquote) {
    margin: 0;
  }
  :is(h1, h2, h3, h4, p, dt, dd, th, label) {
    overflow-wrap: anywhere;
  }
  :is(.button, time) {
    overflow-wrap: normal;
  }
  a {
    color: var(--accent);
    text-underline-offset: 0.18em;
    text-decoration-thickness: 1px;
  }
  :focus {
    outline: none;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  :is(h1, h2, main):focus-visible {
    outline: none;
  }
  ::selection {
    background: color-mix(in oklch, var(--accent) 28%, transparent);
  }

  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: var(--space-2);
    min-height: 2.5rem;
    padding: 0 var(--space-4);
    border: 1px solid var(--line);
    border-radius: var(--radius-md);
    background: var(--surface);
    color: var(--ink);
    font: 500 var(--text-md) / 1 var(--font);
    text-decoration: none;
    cursor: pointer;
  }
  .button:hover {
    border-color: var(--line-strong);
  }
  .button.primary {
    border-color: transparent;
    background: var(--accent);
    color: var(--on-accent);
  }
  .button.primary:hover {
    background: var(--accent-strong);
  }
  .button.danger {
    border-color: transparent;
    background: var(--danger);
    color: var(--on-danger);
  }
  .button.quiet {
    border-color: transparent;
    background: none;
    color: var(--ink-soft);
  }
  .button.quiet:hover {
    background: var(--hover);
    color: var(--ink);
  }
  .button.small {
    min-height: 2rem;
    padding: 0 var(--space-3);
    font-size: var(--text-sm);
  }
  .button.icon {
    width: 2.25rem;
    min-height: 2.25rem;
    padding: 0;
  }
  .button.icon.small {
    width: 1.875rem;
    min-height: 1.875rem;
  }
  /* Enlarge the touch target to 44 px without changing the layout. */
  @media (pointer: coarse) {
    .button.small:not(.icon) {
      min-height: 2.5rem;
    }
    .button.icon {
      position: relative;
    }
    .button.icon::after {
      position: absolute;
      inset: -0.25rem;
      content: '';
    }
    .button.icon.small::after {
      inset: -0.4375rem;
    }
  }
  .button.round {
    border-radius: 50%;
  }
  .button.wide {
    width: 100%;
  }
  .button[aria-pressed='true'] {
    border-color: transparent;
    background: var(--accent-soft);
    color: var(--on-accent-soft);
  }
  .button:disabled {
    opacity: 0.5;
    cursor: default;
  }

  /* A button or link that looks like its content. */
  .flat {
    border: 0;
    border-radius: var(--radius-md);
    background: none;
    color: var(--ink);
    font: 400 var(--text-md) / 1.45 var(--font);
    text-align: start;
    cursor: pointer;
  }
  .flat:is(:hover, :focus-visible) {
    background: var(--hover);
  }
  /* A button with several lines of text. */
  .choice {
    display: grid;
    padding: var(--space-3) var(--space-4);
    border: 1px solid var(--line);
    border-radius: var(--radius-md);
    background: var(--surface);
    color: var(--ink);
    font: 400 var(--text-md) / 1.4 var(--font);
    text-align: start;
    cursor: pointer;
  }
  /* A small button in a line of text. */
  .link {
    padding: 0;
    border: 0;
    background: none;
    color: var(--accent);
    font: 500 var(--text-xs) / 1.5 var(--font);
    cursor: pointer;
    text-decoration: underline;
    text-underline-offset: 0.18em;
  }
  .button.to-end {
    position: absolute;
    background: var(--raised);
    box-shadow: var(--shadow-high);
  }
`

/** Styles for native controls. Every shadow root that contains controls includes them. */
export const controls = css`${buttons}${forms}${blocks}`
