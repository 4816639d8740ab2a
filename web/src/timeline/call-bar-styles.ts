import { css } from 'lit'

/** The bar of a call or a talk above the pages: an icon, what is going on, and buttons. */
export const callBarStyles = css`
  section {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr) auto;
    align-items: center;
    gap: var(--space-1) var(--space-3);
    padding: var(--space-2) var(--space-4);
    border-bottom: 1px solid var(--line);
    font-size: var(--text-sm);
  }
  .what {
    gap: 0 var(--space-3);
  }
  time {
    font-variant-numeric: tabular-nums;
  }
`
