import { css } from 'lit'

/** A sidebar with the navigation, or a drawer on narrow screens. */
export const shellStyles = css`
  :host {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    height: 100dvh;
  }
  /* The notice above the page has the button to release it. */
  :host([halted]) {
    --halt-button: none;
  }
  .sidebar {
    flex-direction: column;
    gap: var(--space-1);
    width: var(--sidebar);
    height: 100dvh;
    margin: 0;
    padding: var(--space-4) var(--space-3);
    border: 0;
    border-inline-end: 1px solid var(--line);
    background: var(--sunken);
    color: var(--ink);
  }
  .sidebar:popover-open {
    display: flex;
    inset: 0 auto 0 0;
    background: var(--raised);
    box-shadow: var(--shadow-high);
  }
  .sidebar::backdrop {
    background: oklch(0.15 0.01 235 / 0.45);
  }
  @media (min-width: 60rem) {
    :host {
      grid-template-columns: auto minmax(0, 1fr);
    }
    .sidebar {
      display: flex;
      position: static;
    }
  }
  .brand {
    gap: var(--space-3);
    padding: var(--space-1) var(--space-3) var(--space-4);
    font-size: var(--text-lg);
    font-weight: 650;
  }
  .brand img {
    width: 1.625rem;
    height: 1.625rem;
  }
  nav ul {
    gap: 2px;
  }
  nav ul + ul {
    padding-top: var(--space-3);
    border-top: 1px solid var(--line);
  }
  .entry {
    gap: var(--space-3);
    width: 100%;
    min-height: 2.5rem;
    padding: 0 var(--space-3);
    color: var(--ink-soft);
    font: 450 var(--text-md) / 1.2 var(--font);
    text-decoration: none;
  }
  .entry:hover {
    color: var(--ink);
  }
  .entry[aria-current] {
    font-weight: 600;
  }
  .rest {
    gap: 2px;
    margin-top: auto;
    padding-top: var(--space-4);
  }
  .version {
    margin-top: var(--space-2);
    padding: var(--space-3) var(--space-3) 0;
    border-top: 1px solid var(--line);
    color: var(--ink-soft);
    font-size: var(--text-xs);
    text-decoration: none;
  }
  .version:hover {
    color: var(--ink);
    text-decoration: underline;
  }
  header {
    display: contents;
  }
  .skip:focus {
    position: absolute;
    inset: var(--space-2) auto auto var(--space-2);
    z-index: 10;
  }
  main {
    display: grid;
    grid-template: auto minmax(0, 1fr) / minmax(0, 1fr);
    min-width: 0;
    min-height: 0;
    height: 100dvh;
  }
  @media (hover: none) and (max-width: 60rem) {
    .keyboard {
      display: none;
    }
  }
`
