import { css } from 'lit'

/** Styles for native controls. Every shadow root that contains controls includes them. */
export const controls = css`
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  [hidden] {
    display: none !important;
  }
  :is(h1, h2, h3, h4, p, dl, dd, figure, blockquote) {
    margin: 0;
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
    transition:
      background var(--quick),
      border-color var(--quick),
      color var(--quick);
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
  .button.to-end {
    position: absolute;
    border-radius: 50%;
    background: var(--raised);
    box-shadow: var(--shadow-high);
  }

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
    transition: border-color var(--quick);
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
  .input::placeholder {
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

  .card {
    border: 1px solid var(--line);
    border-radius: var(--radius-lg);
    background: var(--surface);
    box-shadow: var(--shadow-low);
  }

  /* Link to the parent page. */
  .back {
    display: inline-flex;
    align-items: center;
    gap: var(--space-1);
    min-height: 2rem;
    margin-bottom: var(--space-3);
    font-size: var(--text-sm);
    text-decoration: none;
  }
  .back:hover {
    text-decoration: underline;
  }
  .back dg-icon {
    rotate: 180deg;
  }

  .callout {
    display: flex;
    gap: var(--space-2);
    padding: var(--space-3);
    border-radius: var(--radius-md);
    background: var(--danger-soft);
    color: var(--ink);
    font-size: var(--text-sm);
  }
  .callout > dg-icon {
    color: var(--danger);
    margin-top: 0.1em;
  }
  .callout.warning {
    background: var(--warning-soft);
  }
  .callout.warning > dg-icon {
    color: var(--warning);
  }

  /* A value that could not be reloaded, and bars in the place of one that is being loaded. */
  .stale {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: var(--space-2);
    margin-bottom: var(--space-3);
  }
  .waiting {
    height: 4rem;
    margin-bottom: var(--space-2);
    border-radius: var(--radius-md);
    background: var(--line);
    opacity: 0.5;
  }

  .intro {
    margin-bottom: var(--space-4);
  }
  .soft {
    color: var(--ink-soft);
    font-size: var(--text-sm);
  }
  .subhead {
    margin: var(--space-4) 0 var(--space-2);
    color: var(--ink-soft);
    font-size: var(--text-sm);
    font-weight: 600;
  }
  .subhead:first-child {
    margin-top: 0;
  }
  :where(.list) {
    display: grid;
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-3);
  }
  p.more {
    display: flex;
    justify-content: center;
    margin-top: var(--space-4);
  }
  .clamped {
    display: -webkit-box;
    overflow: hidden;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
  .tag {
    padding: 0.05rem 0.45rem;
    border-radius: 999px;
    background: var(--sunken);
    color: var(--ink-soft);
    font-size: var(--text-xs);
    white-space: nowrap;
  }
  .tag.on {
    background: var(--accent-soft);
    color: var(--on-accent-soft);
  }
  :where(pre:not(.prose pre)) {
    margin: 0;
    padding: var(--space-3);
    border-radius: var(--radius-sm);
    background: var(--sunken);
    font: var(--text-sm) / 1.55 var(--font-mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    overflow-y: auto;
  }
  .scroller {
    overflow-y: auto;
    scrollbar-width: thin;
    scrollbar-color: var(--line-strong) transparent;
  }
  :is(.scroller, .body):focus-visible {
    outline-offset: -2px;
  }
  .popup {
    position: fixed;
    inset: auto;
    margin: 0;
    border: 1px solid var(--line);
    border-radius: var(--radius-md);
    background: var(--raised);
    color: var(--ink);
    box-shadow: var(--shadow-high);
  }
  /* A note that lies over the top of the content. */
  .pill {
    position: absolute;
    top: var(--space-2);
    left: 50%;
    border: 1px solid var(--line);
    border-radius: 999px;
    background: var(--raised);
    transform: translateX(-50%);
  }
  .pulse {
    flex: none;
    width: 0.5rem;
    height: 0.5rem;
    border-radius: 50%;
    background: currentColor;
    animation: pulse 1.2s ease-in-out infinite;
  }
  @keyframes pulse {
    50% {
      opacity: 0.25;
      transform: scale(0.8);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .pulse {
      animation: none;
    }
  }

  kbd {
    display: inline-block;
    min-width: 1.6em;
    padding: 0.1em 0.45em;
    border: 1px solid var(--line);
    border-bottom-width: 2px;
    border-radius: var(--radius-sm);
    background: var(--sunken);
    color: var(--ink-soft);
    font: 500 var(--text-xs) / 1.5 var(--font);
    text-align: center;
  }

  /* With forced colours, pressed and unpressed buttons would look the same. */
  @media (forced-colors: active) {
    button[aria-pressed='true'] {
      background: Highlight !important;
      color: HighlightText !important;
      forced-color-adjust: none;
    }
  }

  .visually-hidden:not(:focus) {
    position: absolute;
    width: 1px;
    height: 1px;
    min-height: 0;
    padding: 0;
    border: 0;
    margin: -1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`
