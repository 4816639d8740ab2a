import { css } from 'lit'

export const timelinePageStyles = css`
  :host {
    display: grid;
    grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr);
    height: 100%;
  }
  .connection {
    margin-inline-end: var(--space-1);
    padding: 0 var(--space-1) 0 var(--space-3);
    border-radius: 999px;
    background: var(--warning-soft);
    font-size: var(--text-sm);
    white-space: nowrap;
    animation: appear 0s 0.7s backwards;
  }
  @keyframes appear {
    from {
      visibility: hidden;
    }
  }
  .connection > dg-icon {
    color: var(--warning);
  }
  .connection > span {
    padding: 0.3rem var(--space-2) 0.3rem 0;
  }
  .search {
    min-height: 2.25rem;
    padding: 0 var(--space-2) 0 var(--space-3);
    color: var(--ink-soft);
    font-size: var(--text-sm);
  }
  @media (max-width: 40rem) {
    .search {
      width: 2.25rem;
      padding: 0;
      border-color: transparent;
      background: none;
      font-size: var(--text-md);
    }
    /* There is no room for both. Offline, the context does not change. */
    .bar > :has(.connection) + dg-context-meter {
      display: none;
    }
    .connection {
      min-height: 2rem;
      padding: 0 var(--space-2);
    }
    :is(.search, .connection) > span {
      position: absolute;
      clip-path: inset(50%);
    }
    .search kbd {
      display: none;
    }
  }
  .content {
    position: relative;
    display: grid;
    grid-template: minmax(0, 1fr) / minmax(0, 1fr);
    min-height: 0;
  }
  .to-end {
    left: 50%;
    bottom: var(--space-3);
    transform: translateX(-50%);
  }
  .reaching {
    padding: var(--space-1) var(--space-1) var(--space-1) var(--space-4);
    font-size: var(--text-sm);
    white-space: nowrap;
    box-shadow: var(--shadow-high);
  }
  .center {
    display: grid;
    align-content: center;
    min-height: 0;
    overflow-y: auto;
  }

  .column {
    width: min(var(--column), 100%);
    margin: 0 auto;
    padding: var(--space-4);
  }
  .welcome {
    width: min(34rem, 100%);
    margin: 0 auto;
    padding: var(--space-5) var(--space-4);
  }
  .welcome h2 {
    font-size: 1.75rem;
    font-weight: 650;
    line-height: 1.2;
  }
  .welcome > p {
    margin: var(--space-2) 0 var(--space-5);
    color: var(--ink-soft);
  }
`
