import { css } from 'lit'

/** A table with a heading for each row, whose cells stand below each other on narrow pages. */
export const wideTable = css`
  .wide-table {
    width: 100%;
    border-collapse: collapse;
  }
  .wide-table :is(th, td) {
    border-top: 1px solid var(--line);
    font-weight: 400;
    text-align: start;
    vertical-align: top;
  }
  .wide-table thead th {
    padding-block: var(--space-2);
    color: var(--ink-soft);
    font-size: var(--text-sm);
  }
  .wide-table tbody th {
    font-weight: 550;
  }
  .wide-table th > p {
    font-weight: 400;
  }
  @media (max-width: 44rem) {
    .wide-table thead {
      display: none;
    }
    .wide-table :is(tbody, th, td) {
      display: block;
      width: auto;
      padding: 0;
      border: 0;
    }
    .wide-table tr {
      display: block;
      border-top: 1px solid var(--line);
    }
  }
`
