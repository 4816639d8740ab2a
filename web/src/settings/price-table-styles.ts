import { css } from 'lit'

/** The price table: one block for each model, with its prices side by side. */
export const priceTableStyles = css`
  .setting.prices {
    grid-template-columns: minmax(0, 1fr);
    border-top: 1px solid var(--line);
  }
  .prices .name {
    gap: var(--space-1) var(--space-2);
    font-weight: 550;
  }
  .prices .models > li {
    padding: var(--space-3) 0;
    border-top: 1px solid var(--line);
  }
  .prices .cells {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(6.5rem, 1fr));
    gap: var(--space-2) var(--space-3);
    /* Where a label takes two lines, the fields stay in line. */
    align-items: end;
    margin-top: var(--space-1);
  }
  .prices .cells label {
    font-weight: 400;
  }
`
