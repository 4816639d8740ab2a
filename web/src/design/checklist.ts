import { css } from 'lit'

/** A list of checks: an icon, a name, and what was found. */
export const checklist = css`
  .checks {
    gap: var(--space-2);
  }
  .checks > li {
    display: flex;
    gap: var(--space-2);
    font-size: var(--text-sm);
    line-height: 1.45;
  }
  .checks > li > div {
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .checks strong {
    font-weight: 550;
  }
  .checks > li > dg-icon {
    margin-top: 0.15em;
    color: var(--success);
  }
  .checks > .fails > dg-icon {
    color: var(--danger);
  }
  .checks > .warns > dg-icon {
    color: var(--warning);
  }
`
